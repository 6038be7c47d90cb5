// What of digest.hpp needs no OpenSSL, so that who only reads digests links none.
#include <algorithm>

#include "lib/base/digest.hpp"

namespace wheelyard::base {

bool is_sha256_hex(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

}  // namespace wheelyard::base
