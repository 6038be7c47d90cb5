// Values of FNV-1a: draft-eastlake-fnv.
#include "lib/base/digest/hash_text.hpp"

#include <cstdio>

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

}  // namespace wheelyard::base
