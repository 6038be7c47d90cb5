// Keys with OpenSSL's EVP (1.1.1 and 3.x).
#include "lib/attest/keys.hpp"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::attest {
namespace {

// What begins a SubjectPublicKeyInfo with an uncompressed point of P-256 (RFC 5480); 64 bytes follow.
constexpr std::string_view p256_head(
    "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42\x00"
    "\x04",
    27);
constexpr std::size_t p256_size = p256_head.size() + 64;

using Key = std::shared_ptr<EVP_PKEY>;
using Context = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;
using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;
using Memory = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Parsed = std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)>;
using Group = std::unique_ptr<EC_GROUP, decltype(&EC_GROUP_free)>;
using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

Key own(EVP_PKEY* key) {
    return {key, EVP_PKEY_free};
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

Memory reader_of(std::string_view text) {
    Memory memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
    WHEELYARD_CHECK(memory != nullptr);
    return memory;
}

std::string take(const Memory& memory) {
    char* begin = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &begin);
    return size <= 0 ? std::string() : std::string(begin, static_cast<std::size_t>(size));
}

std::string der_of(const Key& key) {
    const int size = i2d_PUBKEY(key.get(), nullptr);
    if (size <= 0) return {};
    std::string der(static_cast<std::size_t>(size), '\0');
    auto* to = reinterpret_cast<unsigned char*>(der.data());
    WHEELYARD_CHECK(i2d_PUBKEY(key.get(), &to) == size);
    return der;
}

bool is_p256(std::string_view der) {
    return der.size() == p256_size && der.starts_with(p256_head);
}

// A password that OpenSSL would ask for on the terminal is none.
int give_no_password(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* /*data*/) {
    return 0;
}

tl::unexpected<base::Error> fail_public(std::string advice) {
    ERR_clear_error();
    return base::fail_malformed("attest.public_key", "This is no public key over P-256", {},
                                std::move(advice));
}

// Of the two values of `s` that verify, the smaller one, as other verifiers demand it.
std::string with_low_s(std::string der) {
    const unsigned char* at = bytes_of(der);
    const Parsed parsed(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())), ECDSA_SIG_free);
    const Group group(EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1), EC_GROUP_free);
    const Number half(BN_new(), BN_free);
    Number s(BN_new(), BN_free);
    WHEELYARD_CHECK(parsed != nullptr && group != nullptr && half != nullptr && s != nullptr);
    const BIGNUM* const order = EC_GROUP_get0_order(group.get());
    WHEELYARD_CHECK(BN_rshift1(half.get(), order) == 1);
    if (BN_cmp(ECDSA_SIG_get0_s(parsed.get()), half.get()) <= 0) return der;
    Number r(BN_dup(ECDSA_SIG_get0_r(parsed.get())), BN_free);
    WHEELYARD_CHECK(r != nullptr && BN_sub(s.get(), order, ECDSA_SIG_get0_s(parsed.get())) == 1 &&
                    ECDSA_SIG_set0(parsed.get(), r.release(), s.release()) == 1);
    der.resize(static_cast<std::size_t>(i2d_ECDSA_SIG(parsed.get(), nullptr)));
    auto* to = reinterpret_cast<unsigned char*>(der.data());
    WHEELYARD_CHECK(i2d_ECDSA_SIG(parsed.get(), &to) == static_cast<int>(der.size()));
    return der;
}

// Overwrites the text when it goes away.
struct Secret {
    std::string text;
    explicit Secret(std::string from) : text(std::move(from)) {}
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret() { OPENSSL_cleanse(text.data(), text.size()); }
};

}  // namespace

PublicKey::PublicKey(std::shared_ptr<evp_pkey_st> key, std::string der)
    : key_(std::move(key)), der_(std::move(der)), id_(base::sha256_hex(der_)) {}

base::Result<PublicKey> PublicKey::from_der(std::string_view der) {
    if (!is_p256(der)) return fail_public("its DER has 91 bytes, with an uncompressed point");
    const unsigned char* at = bytes_of(der);
    Key key = own(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
    if (key == nullptr || der_of(key) != der) return fail_public("its point is not on the curve");
    return PublicKey(std::move(key), std::string(der));
}

base::Result<PublicKey> PublicKey::from_pem(std::string_view pem) {
    if (pem.size() > max_key_bytes) return fail_public("a PEM file of one public key is smaller than 1 KiB");
    const Memory memory = reader_of(pem);
    const Key key = own(PEM_read_bio_PUBKEY(memory.get(), nullptr, give_no_password, nullptr));
    if (key == nullptr) return fail_public("give a PEM file that begins with -----BEGIN PUBLIC KEY-----");
    return from_der(der_of(key));
}

std::string PublicKey::pem() const {
    const Memory memory(BIO_new(BIO_s_mem()), BIO_free);
    WHEELYARD_CHECK(memory != nullptr && PEM_write_bio_PUBKEY(memory.get(), key_.get()) == 1);
    return take(memory);
}

bool PublicKey::verifies(std::string_view bytes, std::string_view signature) const {
    const Digest context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    WHEELYARD_CHECK(context != nullptr);
    const bool holds = EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key_.get()) == 1 &&
                       EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(bytes),
                                        bytes.size()) == 1;
    ERR_clear_error();
    return holds;
}

SigningKey SigningKey::generate() {
    const Context context(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nullptr), EVP_PKEY_CTX_free);
    EVP_PKEY* made = nullptr;
    WHEELYARD_CHECK(context != nullptr && EVP_PKEY_keygen_init(context.get()) == 1 &&
                    EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.get(), NID_X9_62_prime256v1) == 1 &&
                    EVP_PKEY_keygen(context.get(), &made) == 1);
    Key key = own(made);
    std::string der = der_of(key);
    WHEELYARD_CHECK(is_p256(der));
    return SigningKey(PublicKey(std::move(key), std::move(der)));
}

base::Result<SigningKey> SigningKey::read(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(const base::Fd fd, base::open_read(file));
    WHEELYARD_ASSIGN(std::string text, base::read_file(fd, file, max_key_bytes));
    const Secret secret(std::move(text));
    if (secret.text.find("-----BEGIN PUBLIC KEY-----") != std::string::npos)
        return base::fail_malformed("attest.key", "This file has a public key, not the private one",
                                    file.string(), "give the file of the private key, which ends in .key");
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) return base::fail_errno("fstat", file.string(), errno);
    if ((status.st_mode & base::rights_of_strangers) != 0)
        return base::fail(
            "attest.key_readable", "Others than its owner can read or replace a private key", file.string(),
            "chmod 600 it, or 640 for a group that may read it; if others may have read it, make and "
            "announce a new key");
    const Memory memory = reader_of(secret.text);
    Key key = own(PEM_read_bio_PrivateKey(memory.get(), nullptr, give_no_password, nullptr));
    ERR_clear_error();
    std::string der = key == nullptr ? std::string() : der_of(key);
    if (!is_p256(der))
        return base::fail_malformed("attest.key", "This file has no private key over P-256", file.string(),
                                    "give a PEM file without a password, as `attest init` writes it");
    return SigningKey(PublicKey(std::move(key), std::move(der)));
}

base::Status SigningKey::write(const std::filesystem::path& file,
                               const std::optional<base::Owner>& owner) const {
    const Memory memory(BIO_new(BIO_s_secmem()), BIO_free);
    WHEELYARD_CHECK(memory != nullptr &&
                    PEM_write_bio_PKCS8PrivateKey(memory.get(), public_.key_.get(), nullptr, nullptr, 0,
                                                  nullptr, nullptr) == 1);
    const Secret secret(take(memory));
    constexpr mode_t owner_alone = 0600;
    auto fd = base::create_new(file, owner_alone);
    if (!fd) {
        if (fd.error().os_error != EEXIST) return base::fail(std::move(fd.error()));
        return base::fail("attest.exists", "The file exists already", file.string(),
                          "name another one: a key is never overwritten");
    }
    auto written = base::write_all(fd->get(), secret.text);
    if (written && owner && ::fchown(fd->get(), owner->user, owner->group) != 0)
        written = base::fail_errno("chown", file.string(), errno);
    if (written) written = base::fsync_file(fd->get(), file.string());
    if (written) written = base::fsync_directory(file.has_parent_path() ? file.parent_path() : ".");
    if (!written) static_cast<void>(base::remove_file(file));  // so that a second try can create it
    return written;
}

std::string SigningKey::sign(std::string_view bytes) const {
    const Digest context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    std::size_t size = 0;
    WHEELYARD_CHECK(context != nullptr &&
                    EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, public_.key_.get()) ==
                        1 &&
                    EVP_DigestSign(context.get(), nullptr, &size, bytes_of(bytes), bytes.size()) == 1);
    std::string signature(size, '\0');
    WHEELYARD_CHECK(EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                                   bytes_of(bytes), bytes.size()) == 1);
    signature.resize(size);
    return with_low_s(std::move(signature));
}

}  // namespace wheelyard::attest
