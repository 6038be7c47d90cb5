#include "builder/compare/explain_bytes.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

using namespace std::string_literals;

const BuildNames names = {{"w1aaa", ""}, {"w1bbb", "w1ccc"}};

std::string codes_of(std::string_view recorded, std::string_view again) {
    std::string codes;
    for (const Evidence& one : explain_bytes(recorded, again, names))
        codes += (codes.empty() ? "" : " ") + std::string(cause_row(one.cause).code);
    return codes;
}

TEST_CASE("each cause of differing bytes is recognised") {
    struct Row {
        const char* what;
        std::string recorded;
        std::string again;
        std::string codes;
    };
    const Row rows[] = {
        {"a path in a text", "root = /work/attempts/w1aaa/tree\n", "root = /work/attempts/w1bbb/tree\n",
         "path.build"},
        {"a path of the tree that a job continued", "/w/w1aaa/t\n", "/w/w1ccc/t\n", "path.build"},
        {"a path in binary bytes", "\0\1/work/w1aaa/x.c\0\2"s, "\0\1/work/w1bbb/x.c\0\2"s, "path.build"},
        {"seconds since 1970", "made = 1795417935.25\n", "made = 1795417999.5\n", "time.build"},
        {"a date", "built on 2026-11-23 06:44:52\n", "built on 2026-11-24 07:01:02\n", "time.build"},
        {"__DATE__", "\0Nov 23 2026\0"s, "\0Dec  1 2026\0"s, "time.build"},
        {"__TIME__", "\0at 06:44:52\0\3"s, "\0at 07:01:00\0\3"s, "time.build"},
        {"a temporary folder", "cache: /tmp/tmpx1y2\n", "cache: /tmp/tmpq9\n", "path.temporary"},
        {"lines in another order", "a\nb\nc\n", "b\na\nc\n", "order.texts"},
        {"strings in another order", "alpha\0bravo\0\1"s, "bravo\0alpha\0\1"s, "order.texts"},
        {"another back end", "Wheel-Version: 1.0\nGenerator: setuptools (75.1)\n",
         "Wheel-Version: 1.0\nGenerator: setuptools (75.2)\n", "wheel.generator"},
        {"a path and a time", "in /w/w1aaa\nat 06:44:52\n", "in /w/w1bbb\nat 06:44:59\n",
         "path.build time.build"},
        {"nothing known", "flags = fast\n", "flags = slow\n", "bytes"},
        {"a line more", "a\n", "a\nb\n", "bytes"},
        {"line ends", "a\nb\n", "a\r\nb\n", "bytes"},
        {"numbers that are no times", "x = 12345\n", "x = 54321\n", "bytes"},
        {"bytes without a text", "\0\1\2"s, "\0\1\3"s, "bytes"},
        {"an empty side", "", "text of the other\n", "bytes"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        CHECK(codes_of(row.recorded, row.again) == row.codes);
    }
}

TEST_CASE("the evidence is the differing text, and short") {
    const std::string line(10'000, 'x');
    const auto found =
        explain_bytes(line + "flags = fast" + line + "\n", line + "flags = slow" + line + "\n", names);
    REQUIRE(found.size() == 1);
    CHECK(found[0].recorded.find("flags = fast") != std::string::npos);
    CHECK(found[0].again.find("flags = slow") != std::string::npos);
    CHECK(found[0].recorded.size() <= max_evidence_bytes + 3);
}

TEST_CASE("times are recognised where they begin, and nothing else is") {
    struct Row {
        std::string_view text;
        std::string_view masked;
    };
    const Row rows[] = {{"", ""},
                        {"Nov 23 2026", "?"},
                        {"Nov  3 2026", "?"},
                        {"Mon Nov 23 06:44:52 2026", "? ? ? 2026"},
                        {"20261123T064452", "?"},
                        {"1580601600", "?"},
                        {"21580601600", "21580601600"},
                        {"2580601600", "2580601600"},
                        {"Novel", "Novel"},
                        {"12:34", "12:34"}};
    for (const Row& row : rows)
        CHECK(without_times(row.text) == row.masked);
}

}  // namespace
}  // namespace wheelyard::builder
