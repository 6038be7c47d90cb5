// Chunked bodies whole, cut anywhere, and broken.
#include "registry/http/chunked.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "registry/http/limits.hpp"

namespace wheelyard::http {
namespace {

struct Outcome {
    bool accepted = true;
    bool ended = false;
    std::string data;
    std::size_t consumed = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome decode(std::string_view wire, std::size_t in_piece, std::size_t out_piece) {
    ChunkDecoder decoder;
    Outcome outcome;
    std::string out(out_piece, '\0');
    std::size_t available = 0;
    while (!decoder.ended()) {
        if (outcome.consumed == available) {
            if (available == wire.size()) break;
            available = std::min(wire.size(), available + in_piece);
        }
        const auto step = decoder.decode(wire.substr(outcome.consumed, available - outcome.consumed),
                                         out.data(), out.size());
        if (!step) return {false, false, outcome.data, 0};
        outcome.data.append(out, 0, step->produced);
        outcome.consumed += step->consumed;
    }
    outcome.ended = decoder.ended();
    return outcome;
}

}  // namespace

TEST_CASE("a chunked body is the same however it arrives and however it is taken") {
    const std::string wire =
        "5\r\nhello\r\n01;name=\"value\"\r\n,\r\nA \r\n 123456789\r\n0;last\r\nTrailer: x\r\nOther: y "
        "z\r\n\r\nGET / HTTP/1.1";
    const Outcome expected{true, true, "hello, 123456789", wire.size() - 14};
    for (std::size_t in_piece = 1; in_piece <= wire.size(); ++in_piece)
        for (const std::size_t out_piece : std::vector<std::size_t>{1, 2, 3, 7, 100})
            CHECK(decode(wire, in_piece, out_piece) == expected);
}

TEST_CASE("an empty chunked body ends at once") {
    CHECK(decode("0\r\n\r\n", 1, 1) == Outcome{true, true, "", 5});
}

TEST_CASE("anything but the grammar is refused") {
    const std::vector<std::string> table{
        "\r\n",
        "g\r\n",
        "-1\r\n",
        "0x5\r\nhello\r\n0\r\n\r\n",
        "5\nhello\r\n0\r\n\r\n",
        "5\r\rhello",
        "5\r\nhello0\r\n\r\n",
        "5\r\nhello\n0\r\n\r\n",
        "5\r\nhello\r0",
        "fffffffffffffffff\r\n",
        "5,\r\nhello\r\n",
        "5;a\nb\r\n",
        "5;a\x01\r\n",
        "0\r\n folded\r\n\r\n",
        "0\r\nA: b\nC: d\r\n\r\n",
        "0\r\n\rx",
        "1\r\na\r\n\r\n",
        "1;" + std::string(max_chunk_line_bytes + 1, 'x') + "\r\n",
        "0\r\nA: " + std::string(max_trailer_bytes, 'x') + "\r\n\r\n",
    };
    for (const std::string& wire : table) {
        CAPTURE(wire.substr(0, 60));
        CHECK_FALSE(decode(wire, wire.size(), 1000).accepted);
        CHECK_FALSE(decode(wire, 1, 1000).accepted);
    }
}

TEST_CASE("many small trailers are bounded together") {
    std::string wire = "0\r\n";
    for (std::size_t i = 0; i < max_trailer_bytes; ++i)
        wire += "a\r\n";
    CHECK(decode(wire, 100, 1).accepted);
    CHECK_FALSE(decode(wire + "a\r\n", 100, 1).accepted);
}

TEST_CASE("a chunk's data may be read past the decoder") {
    ChunkDecoder decoder;
    char out[4];
    CHECK(decoder.data_ahead() == 0);
    CHECK(decoder.decode("a\r\n12", out, sizeof out)->produced == 2);
    CHECK(decoder.data_ahead() == 8);
    decoder.skip_data(5);
    CHECK(decoder.data_ahead() == 3);
    decoder.skip_data(3);
    CHECK(decoder.data_ahead() == 0);
    CHECK(decoder.decode("\r\n0\r\n\r\n", out, sizeof out)->consumed == 7);
    CHECK(decoder.ended());
    CHECK_THROWS(decoder.skip_data(1));
}

}  // namespace wheelyard::http
