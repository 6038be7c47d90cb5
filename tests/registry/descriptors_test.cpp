// Connections leave room for the rest, whatever limit the process was started with.
#include "registry/descriptors.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <cstdint>

using namespace wheelyard::registry;

TEST_CASE("a soft limit below the hard one is raised, and never lowered") {
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    REQUIRE(before.rlim_cur > 256);
    rlimit low = before;
    low.rlim_cur = 256;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    const std::uint64_t now = raise_descriptor_limit();
    rlimit after{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
    CHECK(now == after.rlim_cur);
    CHECK(now > 256);
}

TEST_CASE("connections get what uploads and the program itself leave, and one at least") {
    struct Row {
        std::uint64_t descriptors;
        std::size_t most_uploads;
        std::size_t connections;
    };
    const Row rows[] = {
        {0, 16, 1},      {256, 16, 1},   {258, 16, 1},         {260, 16, 2},
        {1024, 16, 384}, {1024, 0, 448}, {20'256, 16, 10'000},
    };
    for (const Row& row : rows) {
        CAPTURE(row.descriptors);
        CAPTURE(row.most_uploads);
        CHECK(connections_within(row.descriptors, row.most_uploads) == row.connections);
    }
}
