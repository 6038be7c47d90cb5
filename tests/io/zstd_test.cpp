// Zstandard: round trips, and rejected input.
#include "lib/io/zstd.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace wheelyard;

TEST_CASE("text survives a round trip, and compression is deterministic") {
    REQUIRE(io::has_zstd());
    for (const std::string& text : std::vector<std::string>{"", "a", std::string(1'000'000, 'p')}) {
        const std::string packed = io::zstd(text).value();
        CHECK(packed == io::zstd(text).value());
        CHECK(io::unzstd(packed, text.size()).value() == text);
        if (text.size() > 1) CHECK(packed.size() < text.size());
    }
}

TEST_CASE("truncated, changed, doubled or too long input is rejected") {
    const std::string text(5'000, 'x');
    const std::string packed = io::zstd(text).value();
    for (const std::string& bytes : {std::string(), std::string("no zstd"),
                                     packed.substr(0, packed.size() - 1), packed + "x", packed + packed})
        CHECK(io::unzstd(bytes, text.size()).error().code == "zstd.damaged");
    CHECK(io::unzstd(packed, text.size() - 1).error().code == "zstd.too_large");
}
