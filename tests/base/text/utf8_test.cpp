#include "lib/base/text/utf8.hpp"

#include <doctest/doctest.h>

using wheelyard::base::cut_utf8;
using wheelyard::base::decode_utf8;

TEST_CASE("text is cut before a character that does not fit completely") {
    CHECK(cut_utf8("abc", 3) == "abc");
    CHECK(cut_utf8("abc", 2) == "ab");
    CHECK(cut_utf8("", 0).empty());
    CHECK(cut_utf8("größe", 3) == "gr");
    CHECK(cut_utf8("größe", 4) == "grö");
    CHECK(cut_utf8("a€", 3) == "a");
    CHECK(cut_utf8("a\xF0\x9F\x98\x80z", 4) == "a");
    CHECK(cut_utf8("a\xF0\x9F\x98\x80z", 5) == "a\xF0\x9F\x98\x80");
    CHECK(cut_utf8("\x80\x80\x80", 2).empty());  // invalid UTF-8: continuation bytes only
}

TEST_CASE("the first character is decoded with its length, at the limits of each length") {
    struct Row {
        const char* text;
        char32_t code;
        std::size_t bytes;
    };
    for (const Row& row :
         {Row{"a€", U'a', 1}, Row{"\x7F", 0x7F, 1}, Row{"\xC2\x80", 0x80, 2}, Row{"\xDF\xBFz", 0x7FF, 2},
          Row{"\xE0\xA0\x80", 0x800, 3}, Row{"€uro", U'€', 3}, Row{"\xEF\xBF\xBF", 0xFFFF, 3},
          Row{"\xF0\x90\x80\x80", 0x10000, 4}, Row{"\xF4\x8F\xBF\xBF", 0x10FFFF, 4}}) {
        CAPTURE(row.text);
        const auto character = decode_utf8(row.text);
        REQUIRE(character.has_value());
        CHECK(character->code == row.code);
        CHECK(character->bytes == row.bytes);
    }
    for (const char* refused : {"", "\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
        CAPTURE(refused);
        CHECK_FALSE(decode_utf8(refused));
    }
}
