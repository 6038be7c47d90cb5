// Parses the header of a DEFLATE block as strictly as zlib, which most installers use; ISA-L accepts
// incomplete Huffman codes. RFC 1951 §3.2.3 to 3.2.7:
//
//     1 bit    last block?
//     2 bits   type: 0 stored, 1 fixed codes, 2 dynamic codes (3 is invalid)
//     type 2:  5 bits HLIT, 5 bits HDIST, 4 bits HCLEN, the lengths of the length code, the code lengths
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace wheelyard::inspect {

// 17 bits, 19 lengths of 3 bits, 316 lengths of at most 7 + 7 bits.
inline constexpr std::size_t max_block_header_bytes = (17 + 19 * 3 + 316 * 14) / 8 + 1;

// Reads bits from the lowest of each byte on: first `count` bits of `held`, then those of `bytes`.
class BitCursor {
  public:
    BitCursor(std::uint64_t held, unsigned count, std::string_view bytes)
        : held_(held), count_(count), bytes_(bytes) {}
    // The next `count` (at most 16) bits as a number; bits past the end are zeros. Taking such bits makes
    // ok() false permanently.
    [[nodiscard]] unsigned peek(unsigned count) {
        while (count_ < count) {
            if (bytes_.empty()) {
                padding_ += count - count_;
                count_ = count;
                break;
            }
            held_ |= std::uint64_t{static_cast<unsigned char>(bytes_.front())} << count_;
            bytes_.remove_prefix(1);
            count_ += 8;
        }
        return static_cast<unsigned>(held_ & ((std::uint64_t{1} << count) - 1));
    }
    [[nodiscard]] unsigned take(unsigned count) {
        const unsigned value = peek(count);
        held_ >>= count;
        count_ -= count;
        if (padding_ > count_) ok_ = false;
        return value;
    }
    [[nodiscard]] bool ok() const { return ok_; }

  private:
    std::uint64_t held_;
    unsigned count_;
    unsigned padding_ = 0;  // number of bits past the end, the uppermost of the held ones
    std::string_view bytes_;
    bool ok_ = true;
};

struct BlockHeader {
    bool last = false;
};

// nullopt if zlib would reject the header, or if the bits end before the header does.
[[nodiscard]] std::optional<BlockHeader> read_block_header(BitCursor bits);

}  // namespace wheelyard::inspect
