// Encoders and strict decoders.
#include "lib/base/text/encoding.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;

namespace {

std::string all_bytes() {
    std::string out;
    for (int i = 0; i < 256; ++i)
        out += static_cast<char>(i);
    return out;
}

}  // namespace

TEST_CASE("decoding reverses every encoding") {
    const auto all = all_bytes();
    for (std::size_t length = 0; length <= all.size(); ++length) {
        const auto bytes = all.substr(all.size() - length);
        CHECK(decode_hex(encode_hex(bytes)) == bytes);
        CHECK(decode_base64(encode_base64(bytes)) == bytes);
        CHECK(decode_base64url(encode_base64url(bytes)) == bytes);
        CHECK(decode_percent(encode_percent(bytes)) == bytes);
    }
}

TEST_CASE("hex is written in lower case, read in either case, and has even length") {
    CHECK(encode_hex(std::string_view("\x00\xAB", 2)) == "00ab");
    CHECK(decode_hex("aBCd") == "\xAB\xCD");
    CHECK(decode_hex("abc").error().code == "encoding.hex");
    CHECK(decode_hex("zz").error().code == "encoding.hex");
}

TEST_CASE("base64 follows RFC 4648 section 10") {
    const char* const rows[][2] = {{"", ""},
                                   {"f", "Zg=="},
                                   {"fo", "Zm8="},
                                   {"foo", "Zm9v"},
                                   {"foob", "Zm9vYg=="},
                                   {"fooba", "Zm9vYmE="},
                                   {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, encoded] : rows)
        CHECK(encode_base64(plain) == encoded);
    CHECK(encode_base64url("\xFB\xFF") == "-_8");
    CHECK(decode_base64url("-_8=") == "\xFB\xFF");
}

TEST_CASE("base64 has one spelling per value: no stray bits, foreign characters or wrong padding") {
    for (const char* refused :
         {"Zg", "Zg=", "Zh==", "Zm9=", "Zm9v====", "Z===", "Zm 9", "-_8=", "Zg==Zg==", "=", "===="}) {
        CAPTURE(refused);
        CHECK_FALSE(decode_base64(refused));
    }
    for (const char* refused : {"Zh", "Z", "Zg=", "+/8", "Zg===", "Zm9=\n"}) {
        CAPTURE(refused);
        CHECK_FALSE(decode_base64url(refused));
    }
}

TEST_CASE("percent-encoding keeps only unreserved characters, and `+` is not a space") {
    CHECK(encode_percent("a-Z.0_~") == "a-Z.0_~");
    CHECK(encode_percent("2.4.0+cu121/x y") == "2.4.0%2Bcu121%2Fx%20y");
    CHECK(decode_percent("a+b%2b%2B") == "a+b++");
    for (const char* refused : {"%", "%2", "%zz", "abc%", "%%41"}) {
        CAPTURE(refused);
        CHECK(decode_percent(refused).error().code == "encoding.percent");
    }
    CHECK(decode_percent("%41") == "A");
}

TEST_CASE("escaped text cannot open a tag or an entity, or end an attribute") {
    CHECK(escape_html("<a href=\"x\">'&'</a>") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
}

TEST_CASE("a quoted word is one shell word") {
    CHECK(quote_shell("python3.12") == "python3.12");
    CHECK(quote_shell("/a/b-c_d=e:f,g@h%i+j") == "/a/b-c_d=e:f,g@h%i+j");
    CHECK(quote_shell("") == "''");
    CHECK(quote_shell("a b") == "'a b'");
    CHECK(quote_shell("$(rm)") == "'$(rm)'");
    CHECK(quote_shell("it's") == "'it'\\''s'");
    CHECK(quote_shell("~") == "'~'");
}
