// Connections leave room for the rest, whatever limit the process was started with.
#include "registry/serve/descriptors.hpp"

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

TEST_CASE("connections get three of four descriptors that uploads and the program leave, files the rest") {
    struct Row {
        std::uint64_t descriptors;
        DescriptorNeeds needs;
        std::size_t connections;
        std::size_t files;
    };
    const Row rows[] = {
        {0, {10'000, 16, 2}, 1, 1},
        {266, {10'000, 16, 2}, 1, 1},
        {274, {10'000, 16, 2}, 6, 2},
        {1024, {10'000, 16, 2}, 567, 191},
        {1024, {100, 16, 2}, 100, 100},  // so few are sent one file each at most
        {1024, {10'000, 0, 2}, 663, 223},
        {1024, {10'000, 0, 2, 100}, 438, 148},  // 300 of 886 for transfers from upstreams
        {20'000, {10'000, 16, 2}, 10'000, 9'734},
        {20'000, {12'000, 16, 2}, 12'000, 7'734},  // 10,000 quiet ones and 1,000 that trickle
        {20'000, {100'000, 16, 2}, 14'799, 4'935},
        {20'000, {100'000, 16, 256}, 13'848, 4'616},
        {20'000, {0, 16, 2}, 1, 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.descriptors);
        CAPTURE(row.needs.max_connections);
        const DescriptorShares shares = share_descriptors(row.descriptors, row.needs);
        CHECK(shares.connections == row.connections);
        CHECK(shares.files == row.files);
    }
}
