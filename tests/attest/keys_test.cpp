// P-256 keys: their files, their IDs, and what is no such key.
#include "lib/attest/keys.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::attest {

TEST_CASE("a key comes back from its file, which only its owner can read, and is never overwritten") {
    const auto folder = base::TempDir::make("keys").value();
    const auto file = folder.path() / "a.key";
    const SigningKey key = SigningKey::generate();
    REQUIRE(key.write(file));
    struct stat status = {};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    const auto read = SigningKey::read(file);
    REQUIRE(read);
    CHECK(read->public_key().id() == key.public_key().id());
    CHECK(key.public_key().verifies("text", read->sign("text")));
    const auto again = SigningKey::generate().write(file);
    REQUIRE_FALSE(again);
    CHECK(again.error().code == "attest.exists");
    CHECK(SigningKey::read(file)->public_key().id() == key.public_key().id());
}

TEST_CASE("a private key that strangers can read or replace is refused, and no error shows a byte of one") {
    const auto folder = base::TempDir::make("keys").value();
    const auto file = folder.path() / "a.key";
    REQUIRE(SigningKey::generate().write(file));
    const std::string text = base::read_file(file, 4096).value();
    for (const mode_t mode : {0400U, 0600U, 0640U}) {
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        CHECK(SigningKey::read(file));
    }
    for (const mode_t mode : {0604U, 0602U, 0601U, 0620U, 0660U, 0666U}) {
        CAPTURE(mode);
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        const auto refused = SigningKey::read(file);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "attest.key_readable");
    }
    REQUIRE(base::replace_file(file, text.substr(0, text.size() / 2), 0600));
    const auto cut = SigningKey::read(file);
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == "attest.key");
    CHECK(cut.error().text().find(text.substr(40, 20)) == std::string::npos);
    // Everybody may read a public key: the advice is neither chmod nor a new key.
    REQUIRE(base::replace_file(file, SigningKey::generate().public_key().pem(), 0644));
    const auto public_half = SigningKey::read(file);
    REQUIRE_FALSE(public_half);
    CHECK(public_half.error().code == "attest.key");
    CHECK(public_half.error().sentence.find("public key") != std::string::npos);
}

TEST_CASE("a signature is of one text and one key") {
    const SigningKey key = SigningKey::generate();
    const std::string signature = key.sign("text");
    CHECK(key.public_key().verifies("text", signature));
    CHECK_FALSE(key.public_key().verifies("Text", signature));
    CHECK_FALSE(key.public_key().verifies("text", signature + '\0'));
    CHECK_FALSE(key.public_key().verifies("text", ""));
    CHECK_FALSE(SigningKey::generate().public_key().verifies("text", signature));
}

// SEQUENCE { INTEGER r, INTEGER s }; half of the order of P-256 begins with 0x7f.
TEST_CASE("of the two signatures that verify, the one with the smaller s is made") {
    const SigningKey key = SigningKey::generate();
    for (int i = 0; i < 50; ++i) {
        const std::string signature = key.sign("text " + std::to_string(i));
        CHECK(key.public_key().verifies("text " + std::to_string(i), signature));
        const auto size_of_r = static_cast<std::size_t>(static_cast<unsigned char>(signature[3]));
        const auto size_of_s = static_cast<std::size_t>(static_cast<unsigned char>(signature[5 + size_of_r]));
        CHECK(size_of_s <= 32);  // a larger one needs a byte in front that is 0
        CHECK(signature.size() == 6 + size_of_r + size_of_s);
    }
}

// Made with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 (and secp384r1, ED25519), openssl pkey -pubout
TEST_CASE("only a public key over P-256 is one, and its ID is what sha256sum prints of its DER") {
    const auto key = PublicKey::from_pem(
        "-----BEGIN PUBLIC KEY-----\n"
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEytTgLg/JDeISyNJ6MnWOO7di0dSk\n"
        "GN7djDde9jdLx9zWZ42wCMeiFrBGD1xPBvfWcPm3aCvDknKO/sy5+eAY4Q==\n"
        "-----END PUBLIC KEY-----\n");
    REQUIRE(key);
    CHECK(key->id() == "1b60dbdbde54e20dbd38d8cdc61bec52ebfee4af9fd05791756480e796e2a2ce");
    CHECK(PublicKey::from_der(key->der())->id() == key->id());
    CHECK(PublicKey::from_pem(key->pem())->id() == key->id());
    for (const char* other : {"-----BEGIN PUBLIC KEY-----\n"
                              "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEkG8/kTG85sBxf8uR8p16/sRB0az4s6Uq\n"
                              "AM2HzH3SChpWPO8lkmnG3bRop8qM7Fy2Xlm+Fq0u0NazBl2lFzJOJTpzmboBur1o\n"
                              "JsNrMoUuBjywwlDvnZdc3xmMbkH/gSh0\n"
                              "-----END PUBLIC KEY-----\n",
                              "-----BEGIN PUBLIC KEY-----\n"
                              "MCowBQYDK2VwAyEAGjfjkyLV9lh2bTSJAk8FevHTKLbWQ4zgV+Ae6GSLExI=\n"
                              "-----END PUBLIC KEY-----\n",
                              "", "-----BEGIN PUBLIC KEY-----\n"}) {
        CAPTURE(other);
        const auto refused = PublicKey::from_pem(other);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().code == "attest.public_key");
    }
    std::string off_curve = key->der();
    off_curve.back() = static_cast<char>(off_curve.back() ^ 1);
    CHECK_FALSE(PublicKey::from_der(off_curve));
    CHECK_FALSE(PublicKey::from_der(key->der() + "x"));
}

}  // namespace wheelyard::attest
