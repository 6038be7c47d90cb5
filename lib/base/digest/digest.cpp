// Digests from OpenSSL (1.1.1 and 3.x). SHA-256 uses OpenSSL's low-level functions
// because the first use of EVP reads OpenSSL's configuration and loads every algorithm, which costs more than
// the rest of the check of a small wheel.
#include "lib/base/digest/digest.hpp"

#define OPENSSL_SUPPRESS_DEPRECATED  // the low-level SHA-256 functions; the implementation is the same
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <optional>

#include "lib/base/check.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::base {

namespace {

const EVP_MD* algorithm_of(DigestKind kind) {
    switch (kind) {
        case DigestKind::md5:
            return EVP_md5();
        case DigestKind::sha224:
            return EVP_sha224();
        case DigestKind::sha384:
            return EVP_sha384();
        case DigestKind::sha512:
            return EVP_sha512();
        case DigestKind::sha256:
            return nullptr;  // not by EVP
    }
    return nullptr;
}

struct FreeContext {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}  // namespace

struct Digest::State {
    std::optional<SHA256_CTX> sha256;
    std::unique_ptr<EVP_MD_CTX, FreeContext> evp;
};

Digest::Digest(DigestKind kind) : state_(std::make_unique<State>()) {
    if (kind == DigestKind::sha256) {
        WHEELYARD_CHECK(SHA256_Init(&state_->sha256.emplace()) == 1);
        return;
    }
    state_->evp.reset(EVP_MD_CTX_new());
    WHEELYARD_CHECK(state_->evp != nullptr);
    // MD5 only serves as a checksum that old clients send. A FIPS build refuses it without this flag.
    EVP_MD_CTX_set_flags(state_->evp.get(), EVP_MD_CTX_FLAG_NON_FIPS_ALLOW);
    WHEELYARD_CHECK(EVP_DigestInit_ex(state_->evp.get(), algorithm_of(kind), nullptr) == 1);
}

Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::update(std::string_view bytes) {
    if (state_->sha256) {
        WHEELYARD_CHECK(SHA256_Update(&*state_->sha256, bytes.data(), bytes.size()) == 1);
        return;
    }
    WHEELYARD_CHECK(EVP_DigestUpdate(state_->evp.get(), bytes.data(), bytes.size()) == 1);
}

std::string Digest::finish() {
    unsigned char out[EVP_MAX_MD_SIZE];
    if (state_->sha256) {
        WHEELYARD_CHECK(SHA256_Final(out, &*state_->sha256) == 1);
        return {reinterpret_cast<const char*>(out), SHA256_DIGEST_LENGTH};
    }
    unsigned length = 0;
    WHEELYARD_CHECK(EVP_DigestFinal_ex(state_->evp.get(), out, &length) == 1);
    return {reinterpret_cast<const char*>(out), length};
}

std::string sha256_hex(std::string_view bytes) {
    Digest digest(DigestKind::sha256);
    digest.update(bytes);
    return encode_hex(digest.finish());
}

Result<std::string> hex_of_file(DigestKind kind, const fs::path& path, const KeepAlive& keep_alive) {
    WHEELYARD_ASSIGN(const auto file, FileReader::open(path));
    Digest digest(kind);
    WHEELYARD_TRY(for_each_piece(file, mib, [&](std::string_view piece) -> Status {
        digest.update(piece);
        return keep_alive ? keep_alive() : Status();
    }));
    return encode_hex(digest.finish());
}

Result<std::string> sha256_hex_of_file(const fs::path& path, const KeepAlive& keep_alive) {
    return hex_of_file(DigestKind::sha256, path, keep_alive);
}

bool equals_in_constant_time(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace wheelyard::base
