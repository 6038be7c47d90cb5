// The part of digest.hpp that needs no OpenSSL; callers that only validate digests do not link it.
#include <algorithm>

#include "lib/base/digest/digest.hpp"

namespace wheelyard::base {

bool is_sha256_hex(std::string_view text) {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

}  // namespace wheelyard::base
