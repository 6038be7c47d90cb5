// The order in which fetched files are evicted.
#include "registry/upstream/cache_choice.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using registry::CachedCopy;

namespace {

constexpr base::UnixMicros hour = 3600LL * 1'000'000;
constexpr base::UnixMicros day = 24 * hour;
constexpr base::UnixMicros noon = 20'000 * day + day / 2;

std::vector<std::string> names(const std::vector<CachedCopy>& copies) {
    std::vector<std::string> names;
    for (const CachedCopy& copy : copies)
        names.push_back(copy.filename);
    return names;
}

}  // namespace

TEST_CASE("the least recently used day comes first, then the oldest fetch, then the name") {
    const std::vector<CachedCopy> copies{
        {.filename = "used-today", .fetched = noon - 9 * day, .last_used = 20'000},
        {.filename = "b", .fetched = noon - 8 * day, .last_used = 19'999},
        {.filename = "a", .fetched = noon - 8 * day, .last_used = 19'999},
        {.filename = "fetched-first", .fetched = noon - 9 * day, .last_used = 19'999},
        {.filename = "unused", .fetched = noon - 2 * day, .last_used = 19'998}};
    CHECK(names(registry::order_of_return(copies, noon)) ==
          std::vector<std::string>{"unused", "fetched-first", "a", "b", "used-today"});
}

TEST_CASE("what is kept and what was fetched within the hour is never evicted") {
    const std::vector<CachedCopy> copies{
        {.filename = "kept", .fetched = noon - 9 * day, .last_used = 1, .is_kept = true},
        {.filename = "just-fetched", .fetched = noon - hour + 1, .last_used = 1},
        {.filename = "an-hour-old", .fetched = noon - hour, .last_used = 20'000},
        {.filename = "from-the-future", .fetched = noon + day, .last_used = 1}};
    CHECK(names(registry::order_of_return(copies, noon)) == std::vector<std::string>{"an-hour-old"});
}
