// ECDSA keys over P-256 with SHA-256, as `openssl dgst -sha256 -sign` and `-verify` use them.
//
// A key's ID is the SHA-256 of its public half as DER (SubjectPublicKeyInfo), in hex:
//     openssl pkey -pubin -in provenance.pub -outform DER | sha256sum
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/process/user.hpp"
#include "lib/base/result.hpp"

struct evp_pkey_st;

namespace wheelyard::attest {

class PublicKey {
  public:
    // Error "attest.public_key": not one P-256 key in its usual form.
    [[nodiscard]] static base::Result<PublicKey> from_der(std::string_view der);
    [[nodiscard]] static base::Result<PublicKey> from_pem(std::string_view pem);
    [[nodiscard]] const std::string& der() const { return der_; }
    [[nodiscard]] std::string pem() const;
    [[nodiscard]] const std::string& id() const { return id_; }
    // `signature`: DER in its one form, with either `s`: OpenSSL makes the larger one as often, so a root
    // that was signed by hand may have it. So no signature identifies what it signs. Thread-safe.
    [[nodiscard]] bool verifies(std::string_view bytes, std::string_view signature) const;

  private:
    friend class SigningKey;
    PublicKey(std::shared_ptr<evp_pkey_st> key, std::string der);
    std::shared_ptr<evp_pkey_st> key_;
    std::string der_;
    std::string id_;
};

// A private key. It is in its file and in memory, and nowhere else: no error and no log has a byte of it.
class SigningKey {
  public:
    [[nodiscard]] static SigningKey generate();
    // A PEM file without a password. Errors: "attest.key" for anything else, "attest.key_readable" for a file
    // that others than its owner can write, or others than its owner and its group can read.
    [[nodiscard]] static base::Result<SigningKey> read(const std::filesystem::path& file);
    // A new file with mode 0600, durable; root gives it to `owner`. Error "attest.exists": keys are never
    // overwritten.
    [[nodiscard]] base::Status write(const std::filesystem::path& file,
                                     const std::optional<base::Owner>& owner = {}) const;
    [[nodiscard]] const PublicKey& public_key() const { return public_; }
    // DER, with the smaller `s`. Thread-safe.
    [[nodiscard]] std::string sign(std::string_view bytes) const;

  private:
    explicit SigningKey(PublicKey key) : public_(std::move(key)) {}
    PublicKey public_;  // its key has both halves
};

}  // namespace wheelyard::attest
