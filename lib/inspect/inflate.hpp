// Raw DEFLATE (RFC 1951) in pieces; the one wrapper of ISA-L, or of zlib where the build has no ISA-L
// (clusters). Its whole state can be copied, so that unpacking can start again in the middle of a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace wheelyard::inspect {

class Inflater {
  public:
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
    };
    // Unpacks from `packed` into `into` until either is used up or the stream ends.
    [[nodiscard]] Step step(std::string_view packed, char* into, std::size_t capacity);

  private:
    struct State;
    std::unique_ptr<State> state_;
};

[[nodiscard]] std::uint32_t crc32_update(std::uint32_t crc, std::string_view bytes);  // begins with 0

}  // namespace wheelyard::inspect
