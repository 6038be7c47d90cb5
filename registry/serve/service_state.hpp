// The registry's state for /readyz and /metrics: publishing lag, free disk space, the last trial write, the
// scrub. Pure except for the call that reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/metrics.hpp"
#include "registry/serve/this_node.hpp"
#include "registry/serve/upkeep/cache_limit.hpp"
#include "registry/serve/upkeep/scrub.hpp"
#include "registry/serve/upkeep/upkeep.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

struct Readiness {
    PublishQueue::Lag lag = {};
    std::uint64_t free_bytes = 0;
    std::uint64_t min_free_bytes = 0;
    std::int64_t patience_ms = 0;    // a lag below this is normal
    std::string write_failure = {};  // of the last trial writes, as /readyz says it
};

// Why uploads do not become installable now; absent if they do. A file whose stored bytes are lost or damaged
// does not affect other uploads.
[[nodiscard]] std::optional<http::WhyNotReady> why_not_ready(const Readiness& readiness);

// Every referenced object outlives the function that uses it.
struct ServiceParts {
    ConfigView config;
    const blobs::BlobStore& blobs;
    const PublishQueue& pages;
    const Writer& writer;
    const tasks::TaskStore& tasks;
    const Upkeep& upkeep;
    const Scrub& scrub;
    const CacheLimit& cache_limit;
    const Upstreams& upstreams;
    const SiteReports& sites;
    const ThisNode& node;
};

// Does not block for long: a few short locks, statvfs(2) and what /proc says of this process.
[[nodiscard]] http::ServiceState look_at_service(const ServiceParts& parts);

}  // namespace wheelyard::registry
