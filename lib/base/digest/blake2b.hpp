// BLAKE2b (RFC 7693), unkeyed, for digests shorter than 64 bytes. OpenSSL before 3.2 offers only the 64-byte
// digest, and a truncated digest is not the shorter one: the digest length is part of the hash's input.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::base {

class Blake2b {
  public:
    explicit Blake2b(std::size_t digest_bytes);  // 1 to 64
    void update(std::string_view bytes);
    [[nodiscard]] std::string finish();  // call once

  private:
    static constexpr std::size_t block_bytes = 128;
    void compress(bool last);

    std::array<std::uint64_t, 8> state_;
    std::array<char, block_bytes> block_{};
    std::size_t filled_ = 0;
    std::uint64_t total_ = 0;  // bytes compressed; the counter's high word (for more than 2^64 bytes) stays 0
    std::size_t digest_bytes_;
};

}  // namespace wheelyard::base
