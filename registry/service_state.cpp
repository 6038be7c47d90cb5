#include "registry/service_state.hpp"

#include <sys/statvfs.h>

#include <limits>

#include "registry/limits.hpp"

namespace wheelyard::registry {
namespace {

// What a process without privileges may still write; all there could be where the question fails.
std::uint64_t free_bytes_of(const std::filesystem::path& folder) {
    struct statvfs info {};
    if (::statvfs(folder.c_str(), &info) != 0) return std::numeric_limits<std::uint64_t>::max();
    return std::uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace

std::string why_not_ready(const PublishQueue::Lag& lag, std::uint64_t free_bytes, std::int64_t patience_ms) {
    if (free_bytes < min_free_bytes)
        return "the store's disk is full: " + std::to_string(free_bytes / base::mib) + " MiB are left";
    const std::string serials =
        "serial " + std::to_string(lag.visible) + " of " + std::to_string(lag.wanted) + " is out";
    if (!lag.last_failure.empty()) return "publishing fails: " + serials + "; " + lag.last_failure;
    if (lag.since_ms > patience_ms) return "publishing lags: " + serials;
    if (lag.lagging_pages > 0)
        return "publishing left " + std::to_string(lag.lagging_pages) + " pages behind: the log names them";
    return {};
}

http::ServiceState look_at_service(const PublishQueue& pages, const Writer& writer,
                                   const tasks::TaskStore& tasks, const std::filesystem::path& store,
                                   std::int64_t patience_ms) {
    const PublishQueue::Lag lag = pages.lag();
    const std::uint64_t free_bytes = free_bytes_of(store);
    http::ServiceState state;
    state.not_ready = why_not_ready(lag, free_bytes, patience_ms);
    const auto number = [](auto value) { return static_cast<double>(value); };
    state.gauges = {
        {"serial_visible", "The last event whose pages are out", number(lag.visible)},
        {"serial_wanted", "The last event that somebody waits for", number(lag.wanted)},
        {"publish_lag_seconds", "How long the pages have been behind", number(lag.since_ms) / 1000},
        {"publish_lagging_pages", "Pages that the last run left behind", number(lag.lagging_pages)},
        {"publish_late_root_pages", "Large root pages that lack a project's name", number(lag.late_roots)},
        {"publish_root_lag_seconds", "How long they have", number(lag.roots_since_ms) / 1000},
        {"publish_waiting", "Requests that wait for pages", number(pages.waiting())},
        {"commits_queued", "Commits that wait for the catalog's writer", number(writer.queued())},
        {"tasks_removed", "Ended tasks that were removed since the start", number(tasks.removed())},
        {"store_free_bytes", "Room on the store's disk", number(free_bytes)}};
    return state;
}

}  // namespace wheelyard::registry
