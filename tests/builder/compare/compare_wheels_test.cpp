#include "builder/compare/compare_wheels.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"
#include "tests/support/elf_writer.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/wheel_writer.hpp"

namespace wheelyard::builder {
namespace {

using test_support::ElfImage;
using test_support::WheelWriter;
using test_support::ZipEntry;
using namespace std::string_literals;

Comparison compare(const std::string& recorded, const std::string& again) {
    const auto scratch = *base::TempDir::make("compare");
    const base::MemoryReader a(recorded);
    const base::MemoryReader b(again);
    auto found = compare_wheels({a, b, {{"w1aaa"}, {"w1bbb"}}, scratch.path(), {}});
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

std::string write_module(std::vector<std::pair<std::string, std::string>> sections) {
    ElfImage image;
    image.sections = std::move(sections);
    return test_support::write_elf(image);
}

WheelWriter with_module(std::vector<std::pair<std::string, std::string>> sections) {
    WheelWriter wheel("demo", "1.0");
    wheel.add("demo/fast.so", write_module(std::move(sections))).tag("cp311-cp311-linux_x86_64");
    return wheel;
}

TEST_CASE("the same bytes are identical") {
    const Comparison found = compare(demo().bytes(), demo().bytes());
    CHECK(found.identical);
    CHECK(found.causes.empty());
    CHECK(found.same_members == 5);
    CHECK(found.differing_members == 0);
}

TEST_CASE("each difference between archives is named") {
    struct Row {
        const char* what;
        WheelWriter again;
        std::string codes;
    };
    WheelWriter reversed("demo", "1.0");
    reversed.add("demo/b.py", "b = 2\n").add("demo/a.py", "a = 1\n").tag("py3-none-any");
    const Row rows[] = {
        {"a member more", demo().add("demo/c.py", "c = 3\n"), "zip.members wheel.record"},
        {"another order", reversed, "zip.order wheel.record"},
        {"another order in RECORD alone",
         demo().edit_entry("demo-1.0.dist-info/RECORD",
                           [](ZipEntry& one) {
                               one.data = one.data.substr(one.data.find('\n') + 1) +
                                          one.data.substr(0, one.data.find('\n') + 1);
                           }),
         "order.texts"},
        {"another mode",
         demo().edit_entry("demo/a.py", [](ZipEntry& one) { one.external_attributes = 0100755u << 16; }),
         "zip.mode"},
        {"another packing", demo().edit_entry("demo/a.py", [](ZipEntry& one) { one.deflate = false; }),
         "zip.packing"},
        {"another system",
         demo().edit_entry("demo/a.py", [](ZipEntry& one) { one.version_made_by = 3 << 8 | 30; }),
         "zip.packing"},
        {"other contents",
         demo().add("demo/d.py", "d").leave_out("demo/d.py").replace("demo/a.py", "a = 9\n"),
         "bytes wheel.record"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Comparison found = compare(demo().bytes(), row.again.bytes());
        CHECK_FALSE(found.identical);
        CHECK(codes_of(found) == row.codes);
    }
}

TEST_CASE("each difference between ELF files is named by its section, and what follows from it is no cause") {
    using Sections = std::vector<std::pair<std::string, std::string>>;
    struct Row {
        const char* what;
        Sections recorded;
        Sections again;
        std::string codes;
    };
    const std::string id(16, 'n');
    const Row rows[] = {
        {"a path, and the build ID that follows",
         {{".debug_line_str", "/work/w1aaa/x.c\0"s}, {".note.gnu.build-id", id + "\1\2"}},
         {{".debug_line_str", "/work/w1bbb/x.c\0"s}, {".note.gnu.build-id", id + "\3\4"}},
         "path.build elf.build_id wheel.record"},
        {"a path after which the linker merges texts in another order",
         {{".debug_line_str", "fast.c\0/work/w1aaa/x.c\0"s}, {".note.gnu.build-id", id + "\1\2"}},
         {{".debug_line_str", "/work/w1bbb/x.c\0fast.c\0"s}, {".note.gnu.build-id", id + "\3\4"}},
         "path.build elf.build_id elf.offsets wheel.record"},
        {"texts in another order alone",
         {{".debug_str", "alpha\0bravo\0"s}},
         {{".debug_str", "bravo\0alpha\0"s}},
         "order.texts wheel.record"},
        {"a time that moves code",
         {{".rodata", "\0built 6:01 Nov 23 2026\0"s}, {".text", "\1\2\3"}},
         {{".rodata", "\0built 6:01 Dec  1 2026\0"s}, {".text", "\1\2\4"}},
         "time.build elf.offsets wheel.record"},
        {"a compiler",
         {{".comment", "GCC: 12.2.0\0"s}},
         {{".comment", "GCC: 13.1.0\0"s}},
         "elf.compiler wheel.record"},
        {"symbols in another order",
         {{".strtab", "\0alpha\0bravo\0"s}},
         {{".strtab", "\0bravo\0alpha\0"s}},
         "order.symbols wheel.record"},
        {"code alone", {{".text", "\1\2\3"}}, {{".text", "\1\2\4"}}, "elf.code wheel.record"},
        {"a section more", {}, {{".extra", "text of it"}}, "bytes wheel.record"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Comparison found = compare(with_module(row.recorded).bytes(), with_module(row.again).bytes());
        CHECK(codes_of(found) == row.codes);
        REQUIRE_FALSE(found.causes.empty());
        CHECK(found.causes.front().examples.front().member == "demo/fast.so");
        CHECK(found.causes.front().examples.front().where.starts_with("."));
    }
}

TEST_CASE("an ELF file that cannot be parsed is compared as bytes") {
    const auto wheel = [](const std::string& text) {
        return WheelWriter("demo", "1.0")
            .add("demo/fast.so",
                 "\x7f"
                 "ELF" +
                     text)
            .tag("cp311-cp311-linux_x86_64")
            .bytes();
    };
    CHECK(codes_of(compare(wheel("at 06:44:52"), wheel("at 07:44:52"))) == "time.build wheel.record");
}

TEST_CASE("a file that is no wheel is an error that names it") {
    const auto scratch = *base::TempDir::make("compare");
    const std::string wheel = demo().bytes();
    const base::MemoryReader good(wheel);
    std::string unpackable = wheel;  // a member by an unknown method: APPNOTE.TXT, 4.3.12 and 4.4.5
    constexpr std::size_t method_at = 10;
    unpackable[unpackable.find("PK\1\2") + method_at] = 99;
    for (const std::string& bytes : {std::string("PK, but not a wheel"), unpackable}) {
        const base::MemoryReader bad(bytes);
        for (const bool recorded_is_bad : {true, false}) {
            const auto found = compare_wheels(
                {recorded_is_bad ? bad : good, recorded_is_bad ? good : bad, {}, scratch.path(), {}});
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

TEST_CASE("the report for people and the one for programs match their golden files") {
    using Sections = std::vector<std::pair<std::string, std::string>>;
    const std::string id(16, 'n');
    const Sections recorded = {{".debug_line_str", "/work/w1aaa/x.c\0"s},
                               {".note.gnu.build-id", id + "\1\2"}};
    const Sections again = {{".debug_line_str", "/work/w1bbb/x\33[2J.c\0"s},
                            {".note.gnu.build-id", id + "\3\4"}};
    const DifferencesReport report{"demo-1.0-cp311-reproduction",
                                   "demo-1.0-cp311-cp311-linux_x86_64.whl",
                                   {"w1aaa", "12ab", 1000},
                                   {"w1bbb", "34cd", 1001},
                                   compare(with_module(recorded).bytes(), with_module(again).bytes())};
    CHECK(test_support::golden_difference("builder/differences.txt", render_differences(report)) == "");
    CHECK(test_support::golden_difference("builder/differences.json", render_differences_json(report)) == "");
}

}  // namespace
}  // namespace wheelyard::builder
