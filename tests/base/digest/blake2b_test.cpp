// BLAKE2b compared with RFC 7693 and with digests from Python's hashlib.
#include "lib/base/digest/blake2b.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "lib/base/text/encoding.hpp"

using namespace wheelyard::base;

TEST_CASE("BLAKE2b-512 of `abc` is RFC 7693 appendix A's") {
    Blake2b digest(64);
    digest.update("abc");
    CHECK(encode_hex(digest.finish()) ==
          "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
          "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
}

TEST_CASE("BLAKE2b-256 agrees with hashlib around every block boundary, in one piece and byte by byte") {
    struct Row {
        std::size_t length;  // of the bytes i % 251
        const char* hex;
    };
    const Row rows[] = {
        {0, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"},
        {1, "03170a2e7597b7b7e3d84c05391d139a62b157e78786d8c082f29dcf4c111314"},
        {63, "29e41a64fbdd2fd27612228623c0702222bf367451e7324287f181cb3dcf7237"},
        {64, "10d8e6d534b00939843fe9dcc4dae48cdf008f6b8b2b82b156f5404d874887f5"},
        {127, "f2fe67ff342e21b8f45e8f2e0bcd1d9243245d50ee6c78042e9c491388791c72"},
        {128, "c3582f71ebb2be66fa5dd750f80baae97554f3b015663c8be377cfcb2488c1d1"},
        {129, "f7f3c46ba2564ff4c4c162da1f5b605f9f1c4aa6a20652a9f9a337c1a2f5b9c9"},
        {255, "d9ef0fc521b4266d16df662bec231bc2ec3989e7adeaf63169c295dc239dbbea"},
        {256, "582f782226018ec33076bd8d1c42413530ac7e1126260ffc0f306ba3befc3f24"},
        {257, "227e15ed64ee8e93eb7bc53828f76eed974f2c4ab1408c3d08f212b7f8d69904"},
        {1000, "b372d0608f720c8c3dd41e9c8eecb10143b41abe520b616607e754bf79c08331"},
        {65536, "e4f2b5871e75b1993cd3cd4663ca4879794dbe50152c522dcbc66ee1bfecffa6"},
    };
    for (const auto& [length, hex] : rows) {
        CAPTURE(length);
        std::string bytes;
        for (std::size_t i = 0; i < length; ++i)
            bytes += static_cast<char>(i % 251);
        Blake2b whole(32);
        whole.update(bytes);
        CHECK(encode_hex(whole.finish()) == hex);
        Blake2b pieces(32);
        for (const char c : bytes)
            pieces.update({&c, 1});
        CHECK(encode_hex(pieces.finish()) == hex);
    }
}

TEST_CASE("a digest has 1 to 64 bytes") {
    CHECK_THROWS_AS(Blake2b(0), std::logic_error);
    CHECK_THROWS_AS(Blake2b(65), std::logic_error);
    CHECK(Blake2b(1).finish().size() == 1);
}
