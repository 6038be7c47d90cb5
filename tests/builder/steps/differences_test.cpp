#include "builder/steps/differences.hpp"

#include <doctest/doctest.h>

#include "tests/support/elf_writer.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::builder {
namespace {

using test_support::WheelWriter;
using test_support::ZipEntry;
using namespace std::string_literals;

Comparison compare(const std::string& recorded, const std::string& again) {
    const base::MemoryReader a(recorded);
    const base::MemoryReader b(again);
    auto found = compare_wheels({a, b, {{"w1aaa", ""}, {"w1bbb", "w1ccc"}}, {}});
    REQUIRE_MESSAGE(found.has_value(), found.error().text());
    return *found;
}

std::string codes_of(const Comparison& comparison) {
    std::string codes;
    for (const FoundCause& found : comparison.causes)
        codes += (codes.empty() ? "" : " ") + std::string(cause_row(found.cause).code);
    return codes;
}

WheelWriter demo() {
    WheelWriter wheel("demo", "1.0");
    wheel.add("demo/a.py", "a = 1\n").add("demo/b.py", "b = 2\n").tag("py3-none-any");
    return wheel;
}

std::string wheel_with(const std::string& bytes, const std::string& member = "demo/data") {
    return WheelWriter("demo", "1.0").add(member, bytes).tag("cp311-cp311-linux_x86_64").bytes();
}

std::string write_module(std::vector<std::pair<std::string, std::string>> sections) {
    test_support::ElfImage image;
    image.sections = std::move(sections);
    return test_support::write_elf(image);
}

TEST_CASE("the same bytes are identical") {
    const Comparison found = compare(demo().bytes(), demo().bytes());
    CHECK(found.identical);
    CHECK(found.causes.empty());
    CHECK(found.same_members == 5);
    CHECK(found.differing_members == 0);
}

TEST_CASE("a difference of archives alone is found, and RECORD alone is no difference beside others") {
    struct Row {
        const char* what;
        WheelWriter again;
        std::uint64_t places;
    };
    WheelWriter reversed("demo", "1.0");
    reversed.add("demo/b.py", "b = 2\n").add("demo/a.py", "a = 1\n").tag("py3-none-any");
    const Row rows[] = {
        {"a member more", demo().add("demo/c.py", "c = 3\n"), 1},
        {"another order", reversed, 1},
        {"another order in RECORD alone",
         demo().edit_entry("demo-1.0.dist-info/RECORD",
                           [](ZipEntry& one) {
                               one.data = one.data.substr(one.data.find('\n') + 1) +
                                          one.data.substr(0, one.data.find('\n') + 1);
                           }),
         1},
        {"another mode",
         demo().edit_entry("demo/a.py", [](ZipEntry& one) { one.external_attributes = 0100755u << 16; }), 1},
        {"another packing", demo().edit_entry("demo/a.py", [](ZipEntry& one) { one.deflate = false; }), 1},
        {"other contents",
         demo().add("demo/d.py", "d").leave_out("demo/d.py").replace("demo/a.py", "a = 9\n"), 1},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Comparison found = compare(demo().bytes(), row.again.bytes());
        CHECK_FALSE(found.identical);
        CHECK(codes_of(found) == "bytes");
        CHECK(found.causes.front().places == row.places);
    }
}

TEST_CASE("the path and the time of a build are recognised, and nothing else is explained") {
    struct Row {
        const char* what;
        std::string recorded;
        std::string again;
        std::string codes;
    };
    const std::string id(16, 'n');
    const Row rows[] = {
        {"a path in a text", "root = /work/attempts/w1aaa/tree\n", "root = /work/attempts/w1bbb/tree\n",
         "path.build"},
        {"a path of the tree that a job continued", "/w/w1aaa/t\n", "/w/w1ccc/t\n", "path.build"},
        {"a path in binary bytes", "\0\1/work/w1aaa/x.c\0\2"s, "\0\1/work/w1bbb/x.c\0\2"s, "path.build"},
        {"a path in an ELF file, whose build ID follows",
         write_module({{".debug_line_str", "/work/w1aaa/x.c\0"s}, {".note.gnu.build-id", id + "\1\2"}}),
         write_module({{".debug_line_str", "/work/w1bbb/x.c\0"s}, {".note.gnu.build-id", id + "\3\4"}}),
         "path.build"},
        {"a time that moves code",
         write_module({{".rodata", "\0built 6:01 Nov 23 2026\0"s}, {".text", "\1\2\3"}}),
         write_module({{".rodata", "\0built 6:01 Dec  1 2026\0"s}, {".text", "\1\2\4"}}), "time.build"},
        {"seconds since 1970", "made = 1795417935.25\n", "made = 1795417999.5\n", "time.build"},
        {"a date", "built on 2026-11-23 06:44:52\n", "built on 2026-11-24 07:01:02\n", "time.build"},
        {"__DATE__", "\0Nov 23 2026\0"s, "\0Dec  1 2026\0"s, "time.build"},
        {"__TIME__", "\0at 06:44:52\0\3"s, "\0at 07:01:00\0\3"s, "time.build"},
        {"a path and a time", "in /w/w1aaa\nat 06:44:52\n", "in /w/w1bbb\nat 06:44:59\n",
         "path.build time.build"},
        {"nothing known", "flags = fast\n", "flags = slow\n", "bytes"},
        {"lines in another order", "a\nb\nc\n", "b\na\nc\n", "bytes"},
        {"a line more", "a\n", "a\nb\n", "bytes"},
        {"line ends", "a\nb\n", "a\r\nb\n", "bytes"},
        {"numbers that are no times", "x = 12345\n", "x = 54321\n", "bytes"},
        {"bytes without a text", "\0\1\2"s, "\0\1\3"s, "bytes"},
        {"an empty side", "", "text of the other\n", "bytes"},
        {"the path of one build alone", "in /w/w1aaa\n", "in /w\n", "bytes"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Comparison found = compare(wheel_with(row.recorded), wheel_with(row.again));
        CHECK(codes_of(found) == row.codes);
        REQUIRE_FALSE(found.causes.empty());
        CHECK(found.causes.front().examples.front().member == "demo/data");
    }
    // The header of a .pyc file has the time of its source (PEP 552).
    CHECK(codes_of(compare(wheel_with("magic \0\1time\0\0\0\0code"s, "demo/a.pyc"),
                           wheel_with("magic \0\1emit\0\0\0\0code"s, "demo/a.pyc"))) == "time.build");
}

TEST_CASE("the evidence is the differing text, and short") {
    const std::string line(10'000, 'x');
    const auto found = compare(wheel_with(line + "flags = fast" + line + "\n"),
                               wheel_with(line + "flags = slow" + line + "\n"));
    const CauseExample& shown = found.causes.front().examples.front();
    CHECK(shown.recorded.find("flags = fast") != std::string::npos);
    CHECK(shown.again.find("flags = slow") != std::string::npos);
    CHECK(shown.recorded.size() <= max_evidence_bytes + 3);
}

TEST_CASE("a file that is no wheel is an error that names it") {
    const std::string wheel = demo().bytes();
    const base::MemoryReader good(wheel);
    std::string unpackable = wheel;  // a member by an unknown method: APPNOTE.TXT, 4.3.12 and 4.4.5
    constexpr std::size_t method_at = 10;
    unpackable[unpackable.find("PK\1\2") + method_at] = 99;
    for (const std::string& bytes : {std::string("PK, but not a wheel"), unpackable}) {
        const base::MemoryReader bad(bytes);
        for (const bool recorded_is_bad : {true, false}) {
            const auto found =
                compare_wheels({recorded_is_bad ? bad : good, recorded_is_bad ? good : bad, {}, {}});
            REQUIRE_FALSE(found.has_value());
            CHECK(found.error().code == "compare.unreadable");
            CHECK(found.error().sentence.find(recorded_is_bad ? "recorded" : "rebuilt") != std::string::npos);
        }
    }
}

TEST_CASE("a cause keeps a few places and counts all") {
    WheelWriter recorded("demo", "1.0");
    WheelWriter again("demo", "1.0");
    for (int i = 0; i < 50; ++i) {
        recorded.add("demo/" + std::to_string(i), "at 06:44:52\n");
        again.add("demo/" + std::to_string(i), "at 07:44:52\n");
    }
    const Comparison found = compare(recorded.bytes(), again.bytes());
    CHECK(found.differing_members == 51);
    CHECK(found.causes.front().places == 50);
    CHECK(found.causes.front().examples.size() == max_examples);
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

TEST_CASE("the page on reproducibility has the table of causes") {
    CHECK(test_support::part_difference("how-to/check-reproducibility.md", "causes", render_causes()) == "");
}

TEST_CASE("the report for people and the one for programs match their golden files") {
    const DifferencesReport report{
        "demo-1.0-cp311-reproduction",
        "demo-1.0-cp311-cp311-linux_x86_64.whl",
        {"w1aaa", "12ab", 1000, "/work/w1bbb/compared/recorded/demo.whl"},
        {"w1bbb", "34cd", 1001, "/work/a b/compared/rebuilt/demo.whl"},
        compare(wheel_with("\0/work/w1aaa/x.c\0"s), wheel_with("\0/work/w1bbb/x\33[2J.c\0"s))};
    CHECK(test_support::golden_difference("builder/differences.txt", render_differences(report)) == "");
    CHECK(test_support::golden_difference("builder/differences.json", render_differences_json(report)) == "");
}

}  // namespace
}  // namespace wheelyard::builder
