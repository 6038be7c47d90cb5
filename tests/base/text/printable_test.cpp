// Makes text that came from elsewhere (from a registry, a compiler, an archive) safe to print on a terminal.
#include "lib/base/text/utf8.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;

TEST_CASE("text that can control a terminal is replaced, and nothing else") {
    struct Row {
        const char* text;
        const char* shown;
    };
    const Row rows[] = {
        {"error: größe – 1 → 2 \U0001F600\n\ttab", "error: größe – 1 → 2 \U0001F600\n\ttab"},
        {"\x1b[31mred\x1b[0m", "?[31mred?[0m"},
        {"a\rb\ab\x7f", "a?b?b?"},
        {"C1: \u009b31m \u0080", "C1: ?31m ?"},
        {"bidi: \u202e \u2066 \u200f \u061c", "bidi: ? ? ? ?"},
        {"lines: \u2028\u2029", "lines: ??"},
        {"Latin-1 CSI: \x9b"
         "31m \xe9",
         "Latin-1 CSI: ?31m ?"},
        {"overlong: \xc0\x9b \xe0\x82\x9b", "overlong: ?? ???"},
        {"surrogate: \xed\xa0\x80", "surrogate: ???"},
        {"cut: \xe2\x82", "cut: ??"},
        {"joiner: \u200d kept", "joiner: \u200d kept"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(printable(row.text) == row.shown);
    }
    CHECK(printable_line("first\n\tsecond \u202e") == "first  second ?");
    CHECK(is_printable_line("größe – 1 \u200d"));
    for (const char* text : {"a\nb", "a\tb", "\x1b", "\u009b", "\u2069", "\xff"})
        CHECK_FALSE(is_printable_line(text));
}
