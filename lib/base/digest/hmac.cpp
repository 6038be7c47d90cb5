#include "lib/base/digest/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "lib/base/check.hpp"

namespace wheelyard::base {

std::string hmac_sha256(std::string_view key, std::string_view text) {
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    WHEELYARD_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), out,
                         &length) != nullptr);
    return {reinterpret_cast<const char*>(out), length};
}

}  // namespace wheelyard::base
