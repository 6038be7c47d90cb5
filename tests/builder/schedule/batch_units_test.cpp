// Parses times and sizes as squeue, sacct and qstat print them.
#include "builder/schedule/batch_command.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace wheelyard::builder;

namespace {
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
}

TEST_CASE("times as batch systems print them") {
    CHECK(parse_elapsed_s("0:07") == 7);
    CHECK(parse_elapsed_s("01:00:00") == 3600);
    CHECK(parse_elapsed_s("1-02:03:04") == 93'784);
    CHECK(parse_elapsed_s("00:10.500") == 10);
    CHECK(parse_elapsed_s("12") == 12);  // sacct's CPUTimeRAW
    CHECK(parse_elapsed_s("INVALID") == 0);
    CHECK(parse_elapsed_s("x-00:01") == 0);
    CHECK(parse_elapsed_s("") == 0);
}

TEST_CASE("sizes as batch systems print them") {
    CHECK(parse_size_kib("204800K") == 204'800);
    CHECK(parse_size_kib("1M") == 1024);
    CHECK(parse_size_kib("1.5G") == 1024 * 1024);
    CHECK(parse_size_kib("20gb") == 20 * 1024 * 1024);
    CHECK(parse_size_kib("1024kb") == 1024);
    CHECK(parse_size_kib("4096") == 4);
    CHECK(parse_size_kib("4096b") == 4);
    CHECK(parse_size_kib("") == 0);
    CHECK(parse_size_kib("?") == 0);
}

// Found by fuzzing: another user's job may have any text in its columns.
TEST_CASE("numbers beyond the range become its largest value") {
    CHECK(parse_elapsed_s("00:12544499196438482480:15") == most);
    CHECK(parse_elapsed_s("9223372036854775807-00:00:01") == most);
    CHECK(parse_size_kib("18446744073709551615T") == most);
    CHECK(parse_size_kib("9007199254740993p") == most);
}
