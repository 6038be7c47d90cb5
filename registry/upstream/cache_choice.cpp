#include "registry/upstream/cache_choice.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "registry/upstream/freshness.hpp"

namespace wheelyard::registry {

namespace {

// The limit of a cache. Bytes of the last hour may belong to an upload in progress, so their blobs could not be removed
// (lifecycle::min_grace_ms), and a client that waited for a file has it by then.
constexpr std::int64_t min_cached_s = 3'600;

}  // namespace

std::vector<CachedCopy> order_of_return(std::vector<CachedCopy> copies, base::UnixMicros now) {
    std::erase_if(copies, [now](const CachedCopy& copy) {
        return copy.is_kept || copy.fetched > now - min_cached_s * base::second_us;
    });
    std::sort(copies.begin(), copies.end(), [](const CachedCopy& a, const CachedCopy& b) {
        return std::tie(a.last_used, a.fetched, a.filename) < std::tie(b.last_used, b.fetched, b.filename);
    });
    return copies;
}

}  // namespace wheelyard::registry
