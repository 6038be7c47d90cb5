#include "registry/serve/service_state.hpp"

#include <algorithm>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/store/blobs/disk_room.hpp"

namespace wheelyard::registry {
namespace {

double number(auto value) {
    return static_cast<double>(value);
}

void add_quota(std::vector<http::Gauge>& gauges, const RegistryConfig& config, const IndexUsage& usage) {
    const IndexConfig* index = config.find_index(usage.index);
    if (index == nullptr || index->is_private) return;  // everyone reads the metrics
    const std::string label = "index=\"" + usage.index + "\"";
    const auto add = [&](std::string_view name, std::string_view help, std::uint64_t value) {
        if (value != no_quota) gauges.push_back({name, help, number(value), label});
    };
    add("index_files", "Files of the index that count for its quota", usage.all.files);
    add("index_bytes", "Bytes of the index that count for its quota", usage.all.bytes);
    add("index_quota_files", "Quota of files of the index", index->quota.files);
    add("index_quota_bytes", "Quota of bytes of the index", index->quota.bytes);
    add("index_top_token_files", "Files of the token with the most bytes in the index",
        usage.top_token.files);
    add("index_top_token_bytes", "Bytes of the token with the most bytes in the index",
        usage.top_token.bytes);
    add("index_token_quota_files", "Quota of files for each token in the index", index->token_quota.files);
    add("index_token_quota_bytes", "Quota of bytes for each token in the index", index->token_quota.bytes);
}

}  // namespace

std::string why_not_ready(const Readiness& readiness) {
    const PublishQueue::Lag& lag = readiness.lag;
    if (readiness.free_bytes < readiness.min_free_bytes)
        return "the store's disk is full: " + std::to_string(readiness.free_bytes / base::mib) +
               " MiB are left";
    if (!readiness.write_failure.empty()) return readiness.write_failure;
    const std::string serials =
        "serial " + std::to_string(lag.visible) + " of " + std::to_string(lag.wanted) + " is published";
    if (!lag.last_failure.empty()) return "publishing fails: " + serials + "; " + lag.last_failure;
    if (lag.since_ms > readiness.patience_ms) return "publishing lags: " + serials;
    if (lag.lagging_pages > lag.damaged_pages)
        return "publishing left " + std::to_string(lag.lagging_pages - lag.damaged_pages) +
               " pages behind: the log names them";
    return {};
}

http::ServiceState look_at_service(const ServiceParts& parts) {
    const ConfigView held = parts.config.held();
    const RegistryConfig& config = held;
    PublishQueue::Lag lag = parts.pages.lag();
    // Everyone reads /readyz, and a failure's path may name a private project.
    if (!lag.last_failure.empty() && config.has_private()) lag.last_failure = "the log says why";
    const Upkeep::Seen upkeep = parts.upkeep.seen();
    const Scrub::Seen scrub = parts.scrub.seen();
    const std::uint64_t free_bytes = blobs::free_bytes_of(config.store);
    http::ServiceState state;
    state.not_ready = why_not_ready({.lag = lag,
                                     .free_bytes = free_bytes,
                                     .min_free_bytes = config.min_free_bytes,
                                     .patience_ms = config.server.page_wait_ms,
                                     .write_failure = upkeep.write_failure});
    if (std::string why = parts.node.why_not_ready(); !why.empty()) state.not_ready = std::move(why);
    state.gauges = {
        {"serial_visible", "The newest event whose pages are published", number(lag.visible)},
        {"serial_wanted", "The newest event that a request waits for", number(lag.wanted)},
        {"publish_lag_seconds", "Time for which the pages have been behind", number(lag.since_ms) / 1000},
        {"publish_lagging_pages", "Pages that the last run could not update", number(lag.lagging_pages)},
        {"publish_damaged_pages", "Of them, those that lack only a lost or damaged blob",
         number(lag.damaged_pages)},
        {"publish_late_root_pages",
         "Large root pages that lack a project's name, plus 1 while the web UI is behind",
         number(lag.late_roots)},
        {"publish_root_lag_seconds", "Time for which they have lacked it", number(lag.roots_since_ms) / 1000},
        {"publish_waiting", "Requests that wait for pages", number(parts.pages.waiting())},
        {"commits_queued", "Commits that wait for the catalog's writer", number(parts.writer.queued())},
        {"tasks_removed", "Ended tasks removed since the start", number(parts.tasks.removed())},
        {"store_free_bytes", "Free space on the store's disk", number(free_bytes)},
        {"store_min_free_bytes", "Free space below which uploads are refused", number(config.min_free_bytes)},
        {"store_reserve", "1 while the reserve for administrators is allocated",
         upkeep.has_reserve ? 1.0 : 0.0},
        {"store_writable", "1 while the last trial writes succeeded",
         upkeep.write_failure.empty() ? 1.0 : 0.0},
        {"scrub_rounds", "Complete rounds of the scrub since the start", number(scrub.rounds)},
        {"scrub_blobs", "Blobs that these rounds read", number(scrub.blobs)},
        {"scrub_faults", "Damaged and missing blobs that the scrub found since the start",
         number(scrub.faults)}};
    if (!parts.node.is_alone()) state.note = parts.node.text() + "\n";
    const std::vector<http::Gauge> of_node = parts.node.gauges();
    state.gauges.insert(state.gauges.end(), of_node.begin(), of_node.end());
    const std::vector<http::Gauge> of_upstreams = parts.upstreams.gauges();
    state.gauges.insert(state.gauges.end(), of_upstreams.begin(), of_upstreams.end());
    const std::vector<http::Gauge> of_caches = parts.cache_limit.gauges();
    state.gauges.insert(state.gauges.end(), of_caches.begin(), of_caches.end());
    const std::vector<http::Gauge> of_sites = parts.sites.gauges();
    state.gauges.insert(state.gauges.end(), of_sites.begin(), of_sites.end());
    std::vector<http::Gauge> quotas;
    for (const IndexUsage& usage : upkeep.usage)
        add_quota(quotas, config, usage);
    // The text format wants all lines of one metric together.
    std::stable_sort(quotas.begin(), quotas.end(),
                     [](const http::Gauge& a, const http::Gauge& b) { return a.name < b.name; });
    state.gauges.insert(state.gauges.end(), quotas.begin(), quotas.end());
    return state;
}

}  // namespace wheelyard::registry
