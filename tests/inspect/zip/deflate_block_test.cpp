// DEFLATE block headers, bit by bit, and wheels whose streams only ISA-L accepts.
#include "lib/inspect/zip/deflate_block.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

class BitWriter {
  public:
    BitWriter& put(unsigned value, unsigned count) {  // lowest bit first
        for (unsigned i = 0; i < count; ++i) {
            if (used_++ % 8 == 0) bytes_ += '\0';
            bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) |
                                              (value >> i & 1) << ((used_ - 1) % 8));
        }
        return *this;
    }
    BitWriter& code(unsigned value, unsigned count) {  // highest bit first
        while (count-- > 0)
            put(value >> count & 1, 1);
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
    unsigned used_ = 0;
};

using Lengths = std::map<unsigned, unsigned>;  // lengths by symbol; other symbols have no code

// A final block with dynamic codes. The length code has four bits for each of 0 to 15, so that a length is
// written as itself.
BitWriter header(const Lengths& literals, const Lengths& distances, unsigned literal_count = 257,
                 unsigned distance_count = 1) {
    BitWriter bits;
    bits.put(1, 1).put(2, 2).put(literal_count - 257, 5).put(distance_count - 1, 5).put(15, 4);
    constexpr std::array<unsigned, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                             11, 4,  12, 3, 13, 2, 14, 1, 15};
    for (const unsigned symbol : order)
        bits.put(symbol < 16 ? 4 : 0, 3);
    for (unsigned i = 0; i < literal_count; ++i)
        bits.code(literals.count(i) != 0 ? literals.at(i) : 0, 4);
    for (unsigned i = 0; i < distance_count; ++i)
        bits.code(distances.count(i) != 0 ? distances.at(i) : 0, 4);
    return bits;
}

bool taken(const BitWriter& bits) {
    return inspect::read_block_header(inspect::BitCursor(0, 0, bits.bytes())).has_value();
}

std::vector<inspect::Verdict> verdicts_of_stream(const std::string& packed) {
    WheelWriter wheel = valid_wheel();
    test_support::ZipEntry member;
    member.name = "six_data/letter.txt";
    member.data = "A";
    member.edit_packed = [packed](std::string& bytes) { bytes = packed; };
    wheel.add_entry(member);
    return checked(pack(wheel)).verdicts;
}

}  // namespace

TEST_CASE("Huffman codes are accepted exactly if zlib accepts them") {
    const Lengths two = {{65, 1}, {256, 1}};
    struct Row {
        std::string_view what;
        BitWriter bits;
        bool taken;
    };
    for (const Row& row :
         {Row{"complete, no distances", header(two, {}), true},
          Row{"one distance of one bit", header(two, {{0, 1}}), true},
          Row{"only the end symbol, one bit", header({{256, 1}}, {}), true},
          Row{"complete distances", header(two, {{0, 1}, {1, 1}}, 257, 2), true},
          Row{"maximum number of literals and distances", header(two, {{29, 1}}, 286, 30), true},
          Row{"a quarter of the code space is unused", header({{65, 2}, {66, 2}, {256, 2}}, {}), false},
          Row{"only the end symbol, two bits", header({{256, 2}}, {}), false},
          Row{"too many literals for their lengths", header({{65, 1}, {66, 1}, {256, 1}}, {}), false},
          Row{"one distance of two bits", header(two, {{0, 2}}), false},
          Row{"three distances of one bit", header(two, {{0, 1}, {1, 1}, {2, 1}}, 257, 3), false},
          Row{"no end", header({{65, 1}, {66, 1}}, {}), false},
          Row{"287 literals", header(two, {}, 287), false},
          Row{"31 distances", header(two, {}, 257, 31), false}}) {
        CAPTURE(row.what);
        CHECK(taken(row.bits) == row.taken);
    }
}

TEST_CASE("stored and fixed-code headers are complete after the type, and the fourth type is invalid") {
    for (unsigned kind = 0; kind < 4; ++kind)
        CHECK(taken(BitWriter().put(1, 1).put(kind, 2)) == (kind < 2));
    const auto last = inspect::read_block_header(inspect::BitCursor(0b011, 3, ""));
    REQUIRE(last);
    CHECK(last->last);
    CHECK_FALSE(inspect::read_block_header(inspect::BitCursor(0b010, 3, ""))->last);
}

TEST_CASE("a truncated header is rejected, however its bits are buffered") {
    const std::string whole = header({{65, 1}, {256, 1}}, {{0, 1}}).bytes();
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK_FALSE(inspect::read_block_header(inspect::BitCursor(0, 0, whole.substr(0, length))));
    for (const unsigned held_bytes : {0u, 1u, 2u, 8u}) {
        std::uint64_t held = 0;
        for (unsigned i = 0; i < held_bytes; ++i)
            held |= std::uint64_t{static_cast<unsigned char>(whole[i])} << (8 * i);
        CHECK(inspect::read_block_header(inspect::BitCursor(held, 8 * held_bytes, whole.substr(held_bytes))));
    }
}

TEST_CASE("an excessive number of empty blocks is rejected; a few thousand are accepted") {
    const auto stream = [](unsigned empty_blocks) {
        BitWriter bits;
        for (unsigned i = 0; i < empty_blocks; ++i)
            bits.put(0, 1).put(1, 2).code(0, 7);
        return bits.put(1, 1).put(1, 2).code(0x30 + 65, 8).code(0, 7).bytes();  // `A` with the fixed codes
    };
    CHECK(verdicts_of_stream(stream(4000)).empty());
    const auto verdicts = verdicts_of_stream(stream(5000));
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts.front().code == "zip.deflate_invalid");
}

TEST_CASE("a wheel with incomplete codes is rejected") {
    const BitWriter whole = header({{65, 1}, {256, 1}}, {}).code(0, 1).code(1, 1);
    CHECK(verdicts_of_stream(whole.bytes()).empty());
    const BitWriter half = header({{65, 2}, {256, 2}}, {}).code(0, 2).code(1, 2);
    const auto verdicts = verdicts_of_stream(half.bytes());
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts.front().code == "zip.deflate_invalid");
}
