// A memory that is bounded by bytes: what is dropped, and what stays.
#include "registry/upstream/recently_used.hpp"

#include <doctest/doctest.h>

using wheelyard::registry::RecentlyUsed;

TEST_CASE("what was not used for longest is dropped first") {
    RecentlyUsed<int> memory(100);
    CHECK(memory.put("a", 1, 40) == 0);
    CHECK(memory.put("b", 2, 40) == 0);
    REQUIRE(memory.find("a") != nullptr);
    CHECK(memory.put("c", 3, 40) == 40);
    CHECK(memory.find("b") == nullptr);
    CHECK(*memory.find("a") == 1);
    CHECK(*memory.find("c") == 3);
    CHECK(memory.bytes() == 80);
}

TEST_CASE("a value takes the place of the former one with its key, and one beyond the limit stays alone") {
    RecentlyUsed<int> memory(100);
    memory.put("a", 1, 60);
    CHECK(memory.put("a", 2, 30) == 60);
    CHECK(*memory.find("a") == 2);
    CHECK(memory.bytes() == 30);
    memory.put("b", 3, 500);
    CHECK(memory.size() == 1);
    CHECK(*memory.find("b") == 3);
    CHECK(memory.put("c", 4, 10) == 500);
    CHECK(memory.size() == 1);
    CHECK(memory.bytes() == 10);
}
