// A text that only this process can read and make, so that somebody else may keep it: AES-256-GCM (NIST SP
// 800-38D) with a random nonce, as base64url. The key is random and never stored: after a restart nothing
// opens that was sealed before.
//
//     base64url(nonce (12 bytes) ‖ ciphertext ‖ tag (16 bytes))
#include "registry/identity/waiting.hpp"

#include <openssl/evp.h>

#include <memory>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::identity {
namespace {

constexpr std::size_t sealing_key_bytes = 32;
constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

Cipher make_cipher() {
    return {EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free};
}

const unsigned char* raw_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* raw_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

Seal::Seal() : key_(base::random_bytes(sealing_key_bytes)) {}

std::string Seal::close(std::string_view text) const {
    const std::string nonce = base::random_bytes(nonce_bytes);
    std::string made(text.size(), '\0');
    std::string tag(tag_bytes, '\0');
    const Cipher cipher = make_cipher();
    int count = 0;
    int last = 0;
    const bool is_done = cipher != nullptr &&
                         EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, raw_of(key_),
                                            raw_of(std::string_view(nonce))) == 1 &&
                         EVP_EncryptUpdate(cipher.get(), raw_of(made), &count, raw_of(text),
                                           static_cast<int>(text.size())) == 1 &&
                         EVP_EncryptFinal_ex(cipher.get(), raw_of(made) + count, &last) == 1 &&
                         EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, tag.data()) == 1;
    WHEELYARD_CHECK(is_done);
    return base::encode_base64url(nonce + made + tag);
}

std::optional<std::string> Seal::open(std::string_view sealed) const {
    const auto bytes = base::decode_base64url(sealed);
    if (!bytes || bytes->size() < nonce_bytes + tag_bytes) return std::nullopt;
    if (base::encode_base64url(*bytes) != sealed)
        return std::nullopt;  // in another form it would be used twice
    const std::string_view nonce = std::string_view(*bytes).substr(0, nonce_bytes);
    const std::string_view text =
        std::string_view(*bytes).substr(nonce_bytes, bytes->size() - nonce_bytes - tag_bytes);
    std::string tag = bytes->substr(bytes->size() - tag_bytes);
    std::string opened(text.size(), '\0');
    const Cipher cipher = make_cipher();
    int count = 0;
    int last = 0;
    const bool is_ours =
        cipher != nullptr &&
        EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, raw_of(key_), raw_of(nonce)) == 1 &&
        EVP_DecryptUpdate(cipher.get(), raw_of(opened), &count, raw_of(text),
                          static_cast<int>(text.size())) == 1 &&
        EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1 &&
        EVP_DecryptFinal_ex(cipher.get(), raw_of(opened) + count, &last) == 1;
    if (!is_ours) return std::nullopt;
    return opened;
}

}  // namespace wheelyard::identity
