// BLAKE2b after RFC 7693 §3. Names follow the RFC: G mixes, F compresses, sigma orders the message words.
#include "lib/base/digest/blake2b.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/base/check.hpp"

namespace wheelyard::base {
namespace {

constexpr std::array<std::uint64_t, 8> initial_value{
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

constexpr std::uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

constexpr std::uint8_t lanes[8][4] = {
    {0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
    {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14},
};

std::uint64_t load_little_endian(const char* bytes) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return value;
}

}  // namespace

Blake2b::Blake2b(std::size_t digest_bytes) : state_(initial_value), digest_bytes_(digest_bytes) {
    WHEELYARD_CHECK(digest_bytes >= 1 && digest_bytes <= 64);
    state_[0] ^= 0x01010000 ^ digest_bytes;  // parameter block: fanout 1, depth 1, no key
}

void Blake2b::update(std::string_view bytes) {
    while (!bytes.empty()) {
        // Keep a full block until more bytes arrive: the last block is compressed with the final flag.
        if (filled_ == block_bytes) compress(false);
        const auto take = std::min(bytes.size(), block_bytes - filled_);
        std::memcpy(block_.data() + filled_, bytes.data(), take);
        filled_ += take;
        bytes.remove_prefix(take);
    }
}

void Blake2b::compress(bool last) {
    total_ += filled_;
    filled_ = 0;
    std::uint64_t m[16];
    for (std::size_t i = 0; i < 16; ++i)
        m[i] = load_little_endian(block_.data() + 8 * i);
    std::uint64_t v[16];
    for (std::size_t i = 0; i < 8; ++i) {
        v[i] = state_[i];
        v[i + 8] = initial_value[i];
    }
    v[12] ^= total_;
    if (last) v[14] = ~v[14];
    for (std::size_t round = 0; round < 12; ++round) {
        const auto& order = sigma[round % 10];
        for (std::size_t k = 0; k < 8; ++k) {
            auto& a = v[lanes[k][0]];
            auto& b = v[lanes[k][1]];
            auto& c = v[lanes[k][2]];
            auto& d = v[lanes[k][3]];
            a += b + m[order[2 * k]];
            d = std::rotr(d ^ a, 32);
            c += d;
            b = std::rotr(b ^ c, 24);
            a += b + m[order[2 * k + 1]];
            d = std::rotr(d ^ a, 16);
            c += d;
            b = std::rotr(b ^ c, 63);
        }
    }
    for (std::size_t i = 0; i < 8; ++i)
        state_[i] ^= v[i] ^ v[i + 8];
}

std::string Blake2b::finish() {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), '\0');
    compress(true);
    std::string out;
    for (std::size_t i = 0; i < digest_bytes_; ++i)
        out += static_cast<char>(state_[i / 8] >> (8 * (i % 8)) & 0xFF);
    return out;
}

}  // namespace wheelyard::base
