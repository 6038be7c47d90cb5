// Raw DEFLATE (RFC 1951) in pieces; the only wrapper of ISA-L, or of zlib in builds without ISA-L (for
// clusters). The state can be copied, so that unpacking can restart in the middle of a stream.
//
// Rejects everything that zlib rejects: ISA-L gets one block at a time, each marked as the last, after its
// header was validated (deflate_block.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace wheelyard::inspect {

class Inflater {
  public:
    static constexpr std::size_t window_bytes = 32 * 1024;  // maximum distance of a back reference
    // The minimum size of `packed`, except at the end of the stream: a block header must be complete.
    static constexpr std::size_t lookahead_bytes = 1024;

    Inflater();
    Inflater(const Inflater& other);  // copies 48 KiB with zlib, 87 KiB with ISA-L
    Inflater& operator=(const Inflater&) = delete;
    Inflater(Inflater&&) noexcept;
    Inflater& operator=(Inflater&&) noexcept;
    ~Inflater();

    struct Step {
        std::size_t consumed = 0;
        std::size_t produced = 0;
        std::size_t unused = 0;        // when finished: consumed bytes after the final block
        bool finished = false;         // the final block has ended
        bool damaged = false;          // not a valid DEFLATE stream
        bool too_many_blocks = false;  // also damaged: more short blocks than any compressor makes
    };
    // Unpacks from `packed` into `into` until either is used up or the stream ends. The `behind` bytes before
    // `into` must be the previous output: all of it, or window_bytes.
    [[nodiscard]] Step step(std::string_view packed, char* into, std::size_t capacity, std::size_t behind);

  private:
    struct State;
    [[nodiscard]] Step unpack_blocks(std::string_view packed, char* into, std::size_t capacity,
                                     std::size_t behind);
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::string_view bytes);  // start with 0

}  // namespace wheelyard::inspect
