#include "registry/serve/service_state.hpp"

#include <utility>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/engine/place.hpp"
#include "registry/serve/process_samples.hpp"

namespace wheelyard::registry {
namespace {

double number(auto value) {
    return static_cast<double>(value);
}

void add_quota(std::vector<http::Sample>& samples, const RegistryConfig& config, const IndexUsage& usage) {
    const IndexConfig* index = config.find_index(usage.index);
    if (index == nullptr || index->is_private) return;  // everyone reads the metrics
    const std::string label = "index=\"" + usage.index + "\"";
    const auto add = [&](http::Metric metric, std::uint64_t value) {
        if (value != no_quota) samples.push_back({metric, number(value), label});
    };
    add("index_files", usage.all.files);
    add("index_bytes", usage.all.bytes);
    add("index_quota_files", index->quota.files);
    add("index_quota_bytes", index->quota.bytes);
    add("index_top_token_files", usage.top_token.files);
    add("index_top_token_bytes", usage.top_token.bytes);
    add("index_token_quota_files", index->token_quota.files);
    add("index_token_quota_bytes", index->token_quota.bytes);
}

}  // namespace

std::optional<http::WhyNotReady> why_not_ready(const Readiness& readiness) {
    using http::NotReady;
    using Why = http::WhyNotReady;
    const PublishQueue::Lag& lag = readiness.lag;
    if (readiness.free_bytes < readiness.min_free_bytes)
        return Why{NotReady::disk_full,
                   "the store's disk is full: " + std::to_string(readiness.free_bytes / base::mib) +
                       " MiB are left"};
    if (!readiness.write_failure.empty()) return Why{NotReady::not_writable, readiness.write_failure};
    const std::string serials =
        "serial " + std::to_string(lag.visible) + " of " + std::to_string(lag.wanted) + " is published";
    if (!lag.last_failure.empty())
        return Why{NotReady::publish_fails, "publishing fails: " + serials + "; " + lag.last_failure};
    if (lag.since_ms > readiness.patience_ms)
        return Why{NotReady::publish_lags, "publishing lags: " + serials};
    if (lag.lagging_pages > lag.damaged_pages)
        return Why{NotReady::pages_behind, "publishing left " +
                                               std::to_string(lag.lagging_pages - lag.damaged_pages) +
                                               " pages behind: the log names them"};
    return std::nullopt;
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
    if (auto why = parts.node.why_not_ready()) state.not_ready = std::move(why);
    state.samples = {{"serial_visible", number(lag.visible)},
                     {"serial_wanted", number(lag.wanted)},
                     {"publish_failures_total", number(lag.failures)},
                     {"publish_lag_seconds", number(lag.since_ms) / 1000},
                     {"publish_lagging_pages", number(lag.lagging_pages)},
                     {"publish_damaged_pages", number(lag.damaged_pages)},
                     {"publish_late_root_pages", number(lag.late_roots)},
                     {"publish_root_lag_seconds", number(lag.roots_since_ms) / 1000},
                     {"publish_waiting", number(parts.pages.waiting())},
                     {"commits_queued", number(parts.writer.queued())},
                     {"tasks_removed_total", number(parts.tasks.removed())},
                     {"store_free_bytes", number(free_bytes)},
                     {"store_min_free_bytes", number(config.min_free_bytes)},
                     {"store_reserve", upkeep.has_reserve ? 1.0 : 0.0},
                     {"store_writable", upkeep.write_failure.empty() ? 1.0 : 0.0},
                     {"last_scrub_timestamp_seconds", number(upkeep.last_scrub / base::second_us)},
                     {"last_backup_timestamp_seconds", number(upkeep.last_backup / base::second_us)},
                     {"scrub_rounds_total", number(scrub.rounds)},
                     {"scrub_blobs_total", number(scrub.blobs)},
                     {"scrub_faults_total", number(scrub.faults)}};
    http::add_spent(state.samples, "publish_duration_seconds", parts.pages.spent());
    http::add_spent(state.samples, "database_duration_seconds", database::spent().sum());
    if (const auto requests = parts.blobs.requests()) {
        http::add_spent(state.samples, "s3_request_duration_seconds", requests->spent);
        state.samples.push_back({"s3_request_failures_total", number(requests->failed)});
    }
    if (!parts.node.is_alone()) state.note = parts.node.text() + "\n";
    for (const auto& some : {process_samples(), parts.node.samples(), parts.upstreams.samples(),
                             parts.cache_limit.samples(), parts.sites.samples()})
        state.samples.insert(state.samples.end(), some.begin(), some.end());
    for (const IndexUsage& usage : upkeep.usage)
        add_quota(state.samples, config, usage);
    return state;
}

}  // namespace wheelyard::registry
