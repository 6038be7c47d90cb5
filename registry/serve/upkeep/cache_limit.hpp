// Keeps the caches of upstreams within `max_cache_mib`: evicts the least recently used files, then removes
// their bytes.
//
//     row ─► tombstone that may return, event ─► pages without the file ─► blob removed
//
// Each step is found again in the catalog after a crash. A file that was evicted is offered by its upstream's
// page as before, and the next request fetches it, with the same hash.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/store.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/metrics.hpp"
#include "registry/serve/upkeep/background_task.hpp"
#include "registry/upstream/last_used.hpp"

namespace wheelyard::registry {

// The limit of upstreams' caches. A look at sums; a round has work only after fetches.
inline constexpr std::int64_t cache_limit_pause_ms = 60'000;

// Every referenced object outlives the CacheLimit.
struct CacheLimitParts {
    ConfigView config;
    const database::Store& store;
    const blobs::BlobStore& blobs;
    Writer& writer;
    PublishQueue& pages;
    LastUsed& last_used;
    std::function<bool()> is_mine = [] { return true; };  // asked before each round
    std::int64_t pause_ms = cache_limit_pause_ms;
};

// It works in a thread of its own, which the destructor stops. A failed round is logged; the next one tries
// again.
class CacheLimit {
  public:
    // The first round begins at once. Without a limit it does nothing.
    explicit CacheLimit(const CacheLimitParts& parts);
    // For /metrics. None without limits.
    [[nodiscard]] std::vector<http::Sample> samples() const;

  private:
    void run_round(const base::Clock& clock);
    [[nodiscard]] base::Status look_at_caches(const catalog::Catalog& reader, base::UnixMicros now);
    [[nodiscard]] base::Status shrink(const catalog::Catalog& reader, const UpstreamConfig& upstream,
                                      std::uint64_t bytes, base::UnixMicros now);
    [[nodiscard]] base::Result<bool> evict(const UpstreamConfig& upstream, const CachedCopy& copy,
                                           base::UnixMicros now);
    [[nodiscard]] base::Status remove_blobs(const catalog::Catalog& reader, const base::Clock& clock);

    const CacheLimitParts parts_;
    std::atomic<std::uint64_t> files_ = 0;  // evicted since the start
    std::atomic<std::uint64_t> bytes_ = 0;
    mutable std::mutex mutex_;                     // guards cached_
    std::map<std::string, std::uint64_t> cached_;  // bytes in each cache with a limit
    BackgroundTask task_;                          // last: it uses all of the above
};

}  // namespace wheelyard::registry
