// ASCII text operations.
#include "lib/base/text/text.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;
using Parts = std::vector<std::string_view>;

TEST_CASE("case conversion and character classes are ASCII-only, whatever the locale") {
    CHECK(ascii_lower("AbC-Ä") == "abc-Ä");
    CHECK(equals_ignoring_case("Content-Type", "content-TYPE"));
    CHECK_FALSE(equals_ignoring_case("abc", "abcd"));
    CHECK_FALSE(is_ascii_alpha('\xE4'));
    CHECK_FALSE(is_ascii_digit('\xB2'));
    CHECK(is_ascii_alnum('7'));
}

TEST_CASE("trim removes blanks from both ends only") {
    CHECK(trim(" \t a b\r\n") == "a b");
    CHECK(trim(" \n").empty());
    CHECK(trim("").empty());
}

TEST_CASE("split keeps empty parts, split_lines drops only the one after the last line break") {
    CHECK(split("a,,b,", ',') == Parts{"a", "", "b", ""});
    CHECK(split("", ',') == Parts{""});
    CHECK(split_lines("a\r\nb\n\nc\n") == Parts{"a", "b", "", "c"});
    CHECK(split_lines("a") == Parts{"a"});
    CHECK(split_lines("").empty());
    CHECK(split_lines("\n") == Parts{""});
}

TEST_CASE("join and replace_all concatenate and substitute") {
    CHECK(join({"a", "b", "c"}, ", ") == "a, b, c");
    CHECK(join({}, ", ").empty());
    CHECK(replace_all("aaa", "aa", "b") == "ba");
    CHECK(replace_all("abc", "", "x") == "abc");
    CHECK(replace_all("a.b.c", ".", "") == "abc");
}

TEST_CASE("a decimal is digits only, up to 2^64 - 1") {
    CHECK(parse_decimal("0") == 0u);
    CHECK(parse_decimal("007") == 7u);
    CHECK(parse_decimal("18446744073709551615") == UINT64_MAX);
    for (const char* refused :
         {"", "-1", "+1", " 1", "1 ", "1.0", "0x1", "18446744073709551616", "99999999999999999999"}) {
        CAPTURE(refused);
        CHECK_FALSE(parse_decimal(refused));
    }
}

TEST_CASE("UTF-8 has neither overlong forms nor surrogates nor anything past U+10FFFF") {
    for (const char* accepted : {"", "abc", "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                                 "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "Größe"}) {
        CAPTURE(accepted);
        CHECK(is_utf8(accepted));
    }
    for (const char* refused :
         {"\x80", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF", "\xED\xA0\x80",
          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE2\x82"}) {
        CAPTURE(refused);
        CHECK_FALSE(is_utf8(refused));
    }
}

TEST_CASE("a glob matches whole names") {
    struct Row {
        const char* pattern;
        const char* text;
        bool matches;
    };
    for (const Row& row :
         {Row{"", "", true}, Row{"", "a", false}, Row{"*", "", true}, Row{"*", "abc", true},
          Row{"torch*", "torch", true}, Row{"torch*", "torchvision", true}, Row{"torch*", "pytorch", false},
          Row{"*vision", "torchvision", true}, Row{"t?rch", "torch", true}, Row{"t?rch", "trch", false},
          Row{"a*b*c", "axxbyyc", true}, Row{"a*b*c", "axxbyy", false},
          Row{"*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}, Row{"a**c", "abc", true},
          Row{"*.patch", ".a/b.patch", true}, Row{"a\\*", "a\\b", true}, Row{"A*", "abc", false},
          Row{"gpu[0-3]", "gpu2", true}, Row{"gpu[", "gpu[", true}}) {
        CAPTURE(row.pattern);
        CAPTURE(row.text);
        CHECK(matches_glob(row.pattern, row.text) == row.matches);
    }
}

TEST_CASE("nearest finds likely misspellings and suggests nothing unlikely") {
    const std::vector<std::string> known{"name", "port", "scheduler", "walltime_min"};
    CHECK(nearest("prot", known) == "port");
    CHECK(nearest("Name", known) == "name");
    CHECK(nearest("schedular", known) == "scheduler");
    CHECK(nearest("walltime", {"walltime_min", "wall_time"}) == "wall_time");
    CHECK_FALSE(nearest("colour", known));
    CHECK_FALSE(nearest("x", known));
    CHECK_FALSE(nearest("x", {"y"}));
    CHECK_FALSE(nearest("port", {}));
    CHECK_FALSE(nearest(std::string(10'000, 'a'), known));
}

TEST_CASE("sizes are rendered with at most one decimal, and never as 1024 of a unit") {
    CHECK(render_bytes(0) == "0 B");
    CHECK(render_bytes(87) == "87 B");
    CHECK(render_bytes(1023) == "1023 B");
    CHECK(render_bytes(1024) == "1 KiB");
    CHECK(render_bytes(1536) == "1.5 KiB");
    CHECK(render_bytes(12 * 1024 + 300) == "12 KiB");
    CHECK(render_bytes(1024 * 1024 - 1) == "1 MiB");
    CHECK(render_bytes(1610612736) == "1.5 GiB");
    CHECK(render_bytes(UINT64_MAX) == "16 EiB");
}

TEST_CASE("durations are rendered in appropriate units") {
    CHECK(render_duration_ms(0) == "0.0 s");
    CHECK(render_duration_ms(4'250) == "4.2 s");
    CHECK(render_duration_ms(59'999) == "59.9 s");
    CHECK(render_duration_ms(60'000) == "1 min 00 s");
    CHECK(render_duration_ms(200'000) == "3 min 20 s");
    CHECK(render_duration_ms(3'720'000) == "1 h 02 min");
    CHECK(render_duration_ms(-4'200) == "-4.2 s");
    CHECK(render_duration_ms(INT64_MIN).starts_with("-"));
}
