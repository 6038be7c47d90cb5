// The part of digest.hpp that needs no OpenSSL: who validates a digest, hashes a name or wants random bytes
// from the kernel does not link it. Values of FNV-1a: draft-eastlake-fnv.
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::base {

std::uint64_t hash_text(std::string_view text, std::uint64_t seed) {
    std::uint64_t hash = seed;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return hash;
}

std::string hash_text_hex(std::string_view text) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash_text(text)));
    return digits;
}

bool is_sha256_hex(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    for (std::size_t have = 0; have < count;) {
        const auto got = ::getrandom(out.data() + have, count - have, 0);
        WHEELYARD_CHECK(got > 0 || errno == EINTR);
        if (got > 0) have += static_cast<std::size_t>(got);
    }
    return out;
}

}  // namespace wheelyard::base
