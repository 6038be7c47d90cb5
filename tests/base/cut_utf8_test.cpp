// Cuts at, before and inside characters.
#include "lib/base/cut_utf8.hpp"

#include <doctest/doctest.h>

using wheelyard::base::cut_utf8;

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
