#include "lib/inspect/zip/deflate_block.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::inspect {
namespace {

constexpr unsigned own_codes = 2, no_block = 3;  // block types
constexpr unsigned max_literals = 286, max_distances = 30, end_of_block = 256;
constexpr unsigned max_length_code = 7, max_code = 15;

enum class Code { complete, one_bit, none, invalid };

// Classifies a set of code lengths by how much of the code space it uses: a code of n bits uses 2^-n of it.
Code classify(const std::uint8_t* lengths, std::size_t count) {
    constexpr unsigned whole = 1u << max_code;
    unsigned used = 0;
    unsigned max_length = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (lengths[i] == 0) continue;
        used += whole >> lengths[i];
        max_length = std::max<unsigned>(max_length, lengths[i]);
    }
    if (used == whole) return Code::complete;
    if (used == 0) return Code::none;
    return used < whole && max_length == 1 ? Code::one_bit : Code::invalid;
}

// Decodes code lengths with a table indexed by the next seven bits.
class LengthCode {
  public:
    // Returns false if the code is not complete.
    bool read(BitCursor& bits, unsigned count) {
        // The storage order (§3.2.7): rarely used lengths come last.
        constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                     11, 4,  12, 3, 13, 2, 14, 1, 15};
        std::array<std::uint8_t, order.size()> lengths{};
        for (unsigned i = 0; i < count; ++i)
            lengths.at(order.at(i)) = static_cast<std::uint8_t>(bits.take(3));
        if (classify(lengths.data(), lengths.size()) != Code::complete) return false;
        unsigned code = 0;
        for (unsigned length = 1; length <= max_length_code; ++length, code <<= 1) {
            for (std::uint8_t symbol = 0; symbol < lengths.size(); ++symbol) {
                if (lengths.at(symbol) == length) enter(code++, length, symbol);
            }
        }
        return true;
    }
    unsigned take(BitCursor& bits) const {
        const Entry& entry = entries_.at(bits.peek(max_length_code));
        (void)bits.take(entry.length);
        return entry.symbol;
    }

  private:
    struct Entry {
        std::uint8_t symbol = 0, length = 0;
    };
    // Codes are stored with the highest bit first, so the index is the bit-reversed code.
    void enter(unsigned code, unsigned length, std::uint8_t symbol) {
        unsigned turned = 0;
        for (unsigned bit = 0; bit < length; ++bit)
            turned |= (code >> bit & 1) << (length - 1 - bit);
        for (unsigned index = turned; index < entries_.size(); index += 1u << length)
            entries_.at(index) = {symbol, static_cast<std::uint8_t>(length)};
    }
    std::array<Entry, 1u << max_length_code> entries_{};
};

bool read_own_codes(BitCursor& bits) {
    const unsigned literals = bits.take(5) + 257;
    const unsigned distances = bits.take(5) + 1;
    const unsigned length_codes = bits.take(4) + 4;
    if (literals > max_literals || distances > max_distances) return false;
    LengthCode code;
    if (!code.read(bits, length_codes)) return false;
    std::array<std::uint8_t, max_literals + max_distances> lengths{};
    const unsigned all = literals + distances;
    for (unsigned at = 0; at < all && bits.ok();) {
        const unsigned symbol = code.take(bits);
        if (symbol < 16) {
            lengths.at(at++) = static_cast<std::uint8_t>(symbol);
            continue;
        }
        if (symbol == 16 && at == 0) return false;  // nothing to repeat
        const std::uint8_t repeated = symbol == 16 ? lengths.at(at - 1) : std::uint8_t{0};
        const unsigned times = symbol == 16   ? 3 + bits.take(2)
                               : symbol == 17 ? 3 + bits.take(3)
                                              : 11 + bits.take(7);
        if (times > all - at) return false;
        std::fill_n(lengths.begin() + at, times, repeated);
        at += times;
    }
    if (!bits.ok() || lengths.at(end_of_block) == 0) return false;
    // Like zlib: a single one-bit code is valid, and distances may have no codes.
    const Code of_literals = classify(lengths.data(), literals);
    const Code of_distances = classify(lengths.data() + literals, distances);
    return (of_literals == Code::complete || of_literals == Code::one_bit) && of_distances != Code::invalid;
}

}  // namespace

std::optional<BlockHeader> read_block_header(BitCursor bits) {
    const BlockHeader header{bits.take(1) != 0};
    const unsigned kind = bits.take(2);
    if (!bits.ok() || kind == no_block || (kind == own_codes && !read_own_codes(bits))) return std::nullopt;
    return header;
}

}  // namespace wheelyard::inspect
