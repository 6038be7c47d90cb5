#include "registry/upstream/cache_choice.hpp"

#include <algorithm>
#include <tuple>

#include "registry/upstream/freshness.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {

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
