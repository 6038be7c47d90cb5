// Digests compared with published vectors.
#include "lib/base/digest/digest.hpp"

#include <doctest/doctest.h>

#include <set>

#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/encoding.hpp"

using namespace wheelyard::base;

TEST_CASE("each kind of digest has the published value for `abc`, however the input is split") {
    struct Row {
        DigestKind kind;
        const char* hex;
    };
    for (const Row& row :
         {Row{DigestKind::md5, "900150983cd24fb0d6963f7d28e17f72"},
          Row{DigestKind::sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"},
          Row{DigestKind::sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
          Row{DigestKind::sha384,
              "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825"
              "a7"},
          Row{DigestKind::sha512,
              "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c2"
              "3a3feebbd454d4423643ce80e2a9ac94fa54ca49f"}}) {
        CAPTURE(row.hex);
        Digest whole(row.kind);
        whole.update("abc");
        CHECK(encode_hex(whole.finish()) == row.hex);
        Digest pieces(row.kind);
        for (const char* piece : {"", "a", "", "bc"})
            pieces.update(piece);
        Digest moved(std::move(pieces));
        CHECK(encode_hex(moved.finish()) == row.hex);
    }
}

TEST_CASE("the digest of a file is that of its bytes") {
    const auto dir = TempDir::make("digest").value();
    const auto path = dir.path() / "f";
    const std::string bytes((2u << 20) + 17, 'x');
    REQUIRE(replace_file(path, bytes));
    CHECK(sha256_hex_of_file(path) == sha256_hex(bytes));
    CHECK(sha256_hex_of_file(dir.path() / "absent").error().code == "os.ENOENT");
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("hashing a large file calls keep_alive, whose error stops it") {
    const auto dir = TempDir::make("digest").value();
    const auto path = dir.path() / "f";
    const std::string bytes((2u << 20) + 17, 'x');
    REQUIRE(replace_file(path, bytes));
    int calls = 0;
    CHECK(sha256_hex_of_file(path, [&]() -> Status {
              ++calls;
              return {};
          }) == sha256_hex(bytes));
    CHECK(calls >= 3);  // at least once for each MiB
    calls = 0;
    const auto stopped = sha256_hex_of_file(
        path, [&]() -> Status { return ++calls == 2 ? fail("lock.lost", "no longer ours") : Status(); });
    CHECK(stopped.error().code == "lock.lost");
    CHECK(calls == 2);
}

TEST_CASE("a SHA-256 in hex has 64 lower-case digits") {
    CHECK(is_sha256_hex(sha256_hex("x")));
    CHECK_FALSE(is_sha256_hex(std::string(63, 'a')));
    CHECK_FALSE(is_sha256_hex(std::string(64, 'A')));
    CHECK_FALSE(is_sha256_hex(std::string(64, 'g')));
    CHECK_FALSE(is_sha256_hex(""));
}

TEST_CASE("the constant-time comparison compares correctly") {
    CHECK(equals_in_constant_time("secret", "secret"));
    CHECK(equals_in_constant_time("", ""));
    CHECK_FALSE(equals_in_constant_time("secret", "secreT"));
    CHECK_FALSE(equals_in_constant_time("secret", "secre"));
}

TEST_CASE("random bytes do not repeat") {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i)
        seen.insert(random_bytes(16));
    CHECK(seen.size() == 100);
    CHECK(random_bytes(1000).size() == 1000);
    CHECK(random_bytes(0).empty());
}
