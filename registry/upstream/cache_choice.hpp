// Which fetched files are evicted when an upstream's cache is larger than `max_cache_mib`. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/upstream/last_used.hpp"

namespace wheelyard::registry {

struct CachedCopy {
    std::string filename;
    std::string project = {};
    std::string sha256 = {};
    std::uint64_t size_bytes = 0;
    base::UnixMicros fetched = 0;
    Day last_used = 0;     // the day of the last request; at least that of `fetched`
    bool is_kept = false;  // pinned, quarantined or prefetched
};

// The copies in the order in which they are evicted, the least recently used first. Those that are kept, and those
// that were fetched within `min_cached_s`, are not among them.
[[nodiscard]] std::vector<CachedCopy> order_of_return(std::vector<CachedCopy> copies, base::UnixMicros now);

}  // namespace wheelyard::registry
