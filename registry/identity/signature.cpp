// The only file of this module that includes OpenSSL.
#include "registry/identity/key_set.hpp"

#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <bit>
#include <cstddef>
#include <memory>

namespace wheelyard::identity {
namespace {

constexpr std::size_t min_rsa_bits = 2048;
constexpr std::size_t max_rsa_bits = 8192;  // verifying with a longer one takes milliseconds
constexpr std::size_t max_rsa_exponent_bytes = 4;

constexpr std::size_t coordinate_bytes = 32;  // of P-256 and Ed25519

struct FreeKey {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
    void operator()(EVP_MD_CTX* digest) const { EVP_MD_CTX_free(digest); }
};
struct FreeSignature {
    void operator()(ECDSA_SIG* signature) const { ECDSA_SIG_free(signature); }
};
struct FreeNumber {
    void operator()(BIGNUM* number) const { BN_free(number); }
};
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;
using Number = std::unique_ptr<BIGNUM, FreeNumber>;

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

std::string der(char tag, std::string_view value) {
    std::string length;
    if (value.size() < 0x80) {
        length.push_back(static_cast<char>(value.size()));
    } else {
        for (std::size_t rest = value.size(); rest > 0; rest >>= 8)
            length.insert(length.begin(), static_cast<char>(rest & 0xff));
        length.insert(length.begin(), static_cast<char>(0x80 | length.size()));
    }
    std::string out(1, tag);
    out.append(length).append(value);
    return out;
}

std::string_view without_leading_zeros(std::string_view number) {
    while (!number.empty() && number.front() == '\0')
        number.remove_prefix(1);
    return number;
}

std::string der_integer(std::string_view number) {
    const bool reads_negative = (static_cast<unsigned char>(number.front()) & 0x80) != 0;
    return der('\x02', (reads_negative ? std::string(1, '\0') : std::string()) + std::string(number));
}

Key parse_key(const std::string& spki) {
    const unsigned char* at = bytes_of(spki);
    return Key(d2i_PUBKEY(nullptr, &at, static_cast<long>(spki.size())));
}

tl::unexpected<base::Error> refuse_key(std::string sentence, std::string value) {
    return base::fail_malformed("jwks.key", std::move(sentence), std::move(value));
}

base::Result<PublicKey> checked(Algorithm algorithm, std::string spki) {
    if (parse_key(spki) == nullptr) return refuse_key("The numbers of a key are those of no key", {});
    return PublicKey{algorithm, std::move(spki)};
}

std::string with_prefix(std::string_view prefix, std::string_view rest) {
    return std::string(prefix).append(rest);
}

// r‖s as the DER that OpenSSL reads; empty: it has another length.
std::string der_signature(std::string_view raw) {
    constexpr std::size_t half = coordinate_bytes;
    if (raw.size() != 2 * half) return {};
    Number r(BN_bin2bn(bytes_of(raw), half, nullptr));
    Number s(BN_bin2bn(bytes_of(raw.substr(half)), half, nullptr));
    const std::unique_ptr<ECDSA_SIG, FreeSignature> both(ECDSA_SIG_new());
    if (r == nullptr || s == nullptr || both == nullptr) return {};
    if (ECDSA_SIG_set0(both.get(), r.get(), s.get()) != 1) return {};
    static_cast<void>(r.release());  // `both` owns them now
    static_cast<void>(s.release());
    unsigned char* encoded = nullptr;
    const int size = i2d_ECDSA_SIG(both.get(), &encoded);
    if (size <= 0) return {};
    std::string text(reinterpret_cast<const char*>(encoded), static_cast<std::size_t>(size));
    OPENSSL_free(encoded);
    return text;
}

}  // namespace

base::Result<PublicKey> rsa_key(std::string_view modulus, std::string_view exponent) {
    using namespace std::string_view_literals;
    constexpr std::string_view algorithm = "\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00"sv;
    modulus = without_leading_zeros(modulus);
    exponent = without_leading_zeros(exponent);
    const std::size_t bits =
        modulus.empty()
            ? 0
            : modulus.size() * 8 -
                  static_cast<std::size_t>(std::countl_zero(static_cast<unsigned char>(modulus[0])));
    if (bits < min_rsa_bits || bits > max_rsa_bits)
        return refuse_key("An RSA key has 2048 to 8192 bits", std::to_string(bits));
    const bool is_odd = !exponent.empty() && (static_cast<unsigned char>(exponent.back()) & 1) != 0;
    if (!is_odd || exponent == "\x01" || exponent.size() > max_rsa_exponent_bytes)
        return refuse_key("The exponent of an RSA key is odd, above 1 and has at most 4 bytes",
                          std::to_string(exponent.size()) + " bytes");
    const std::string numbers = der('\x30', der_integer(modulus) + der_integer(exponent));
    return checked(Algorithm::rs256,
                   der('\x30', with_prefix(algorithm, der('\x03', with_prefix("\0"sv, numbers)))));
}

base::Result<PublicKey> p256_key(std::string_view x, std::string_view y) {
    using namespace std::string_view_literals;
    constexpr std::string_view prefix =
        "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00\x04"sv;
    if (x.size() != coordinate_bytes || y.size() != coordinate_bytes)
        return refuse_key("The coordinates of a P-256 key have 32 bytes each",
                          std::to_string(x.size()) + " and " + std::to_string(y.size()));
    return checked(Algorithm::es256, with_prefix(prefix, std::string(x).append(y)));
}

base::Result<PublicKey> ed25519_key(std::string_view x) {
    using namespace std::string_view_literals;
    constexpr std::string_view prefix = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"sv;
    if (x.size() != coordinate_bytes)
        return refuse_key("An Ed25519 key has 32 bytes", std::to_string(x.size()));
    return checked(Algorithm::eddsa, with_prefix(prefix, x));
}

bool is_signed_by(const PublicKey& key, std::string_view bytes, std::string_view signature) {
    const Key parsed = parse_key(key.der);
    const std::unique_ptr<EVP_MD_CTX, FreeDigest> digest(EVP_MD_CTX_new());
    if (parsed == nullptr || digest == nullptr) return false;
    std::string as_der;
    if (key.algorithm == Algorithm::es256) {
        as_der = der_signature(signature);
        signature = as_der;
    }
    if (signature.empty()) return false;
    const EVP_MD* hash = key.algorithm == Algorithm::eddsa ? nullptr : EVP_sha256();
    return EVP_DigestVerifyInit(digest.get(), nullptr, hash, nullptr, parsed.get()) == 1 &&
           EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(bytes),
                            bytes.size()) == 1;
}

}  // namespace wheelyard::identity
