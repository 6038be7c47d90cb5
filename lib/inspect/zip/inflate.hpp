// Raw DEFLATE (RFC 1951) in pieces; the one wrapper of ISA-L, or of zlib where the build has no ISA-L
// (clusters). Its whole state can be copied, so that unpacking can start again in the middle of a stream.
//
// What zlib refuses is refused, too: ISA-L is given one block at a time, each as if it were the last, and the
// header of each is judged before (deflate_block.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace wheelyard::inspect {

class Inflater {
  public:
    static constexpr std::size_t window_bytes = 32 * 1024;  // how far back a stream can refer
    // What `packed` must at least hold, but at the end of the stream: the header of a block is read at once.
    static constexpr std::size_t lookahead_bytes = 1024;

    Inflater();
    Inflater(const Inflater& other);  // 48 KiB by zlib, 87 KiB by ISA-L
    Inflater& operator=(const Inflater&) = delete;
    Inflater(Inflater&&) noexcept;
    Inflater& operator=(Inflater&&) noexcept;
    ~Inflater();

    struct Step {
        std::size_t consumed = 0;
        std::size_t produced = 0;
        std::size_t unused = 0;  // once finished: of all that was consumed, the bytes behind the final block
        bool finished = false;   // the final block has ended
        bool damaged = false;    // no DEFLATE stream
        bool crumbled =
            false;  // damaged: so many blocks of so few bytes that each costs more than what is in it
    };
    // Unpacks from `packed` into `into` until either is used up or the stream ends. In front of `into` lie
    // the `behind` bytes that were unpacked before: all there are, or window_bytes.
    [[nodiscard]] Step step(std::string_view packed, char* into, std::size_t capacity, std::size_t behind);

  private:
    struct State;
    [[nodiscard]] Step unpack_blocks(std::string_view packed, char* into, std::size_t capacity,
                                     std::size_t behind);
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::string_view bytes);  // begins with 0

}  // namespace wheelyard::inspect
