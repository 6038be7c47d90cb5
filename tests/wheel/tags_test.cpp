// Compatibility tags: order of preference compared with `packaging`, tag sets, platforms.
#include "lib/wheel/tags.hpp"

#include <charconv>
#include <set>

#include "lib/base/digest/digest.hpp"
#include "tests/wheel/golden_table.hpp"

namespace wheelyard::wheel {
namespace {

int number(const std::string& text) {
    int value = -1;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

Environment environment_of(const test::Row& row) {
    REQUIRE(row.size() >= 8);
    return {.python_major = 3,
            .python_minor = number(row[0]),
            .cpython = row[1] == "cpython",
            .free_threaded = row[2] == "1",
            .machine = row[3],
            .glibc_major = number(row[4]),
            .glibc_minor = number(row[5]),
            .musl_major = number(row[6]),
            .musl_minor = number(row[7])};
}

std::vector<std::string> texts_of(const std::vector<Tag>& tags) {
    std::vector<std::string> texts;
    for (const auto& tag : tags)
        texts.push_back(tag.text());
    return texts;
}

}  // namespace

TEST_CASE("the supported tags and their order are those of packaging, tag by tag") {
    const auto rows = test::read_golden("tags_cp311_aarch64_musl_1_2.txt");
    const auto tags = texts_of(supported_tags(environment_of(rows[0])));
    REQUIRE(tags.size() + 1 == rows.size());
    for (std::size_t i = 0; i < tags.size(); ++i)
        CHECK_MESSAGE(tags[i] == rows[i + 1][0], "at ", i);
}

TEST_CASE("the supported tags of a hundred environments are those of packaging") {
    const auto rows = test::read_golden("tags.txt");
    CHECK(rows.size() > 100);
    for (const auto& row : rows) {
        const auto tags = texts_of(supported_tags(environment_of(row)));
        std::string lines;
        for (const auto& tag : tags)
            lines += tag + "\n";
        const auto label = base::join(row, " ");
        CHECK_MESSAGE(std::to_string(tags.size()) == row[8], label);
        CHECK_MESSAGE(base::sha256_hex(lines) == row[9], label);
        CHECK_MESSAGE(std::set<std::string>(tags.begin(), tags.end()).size() == tags.size(), label);
    }
}

TEST_CASE("a compressed tag set expands to every combination, sorted and unique") {
    CHECK(texts_of(*parse_tag_set("py3.py2-none-any")) ==
          std::vector<std::string>{"py2-none-any", "py3-none-any"});
    CHECK(texts_of(*parse_tag_set("CP312-ABI3.none-linux_X86_64")) ==
          std::vector<std::string>{"cp312-abi3-linux_x86_64", "cp312-none-linux_x86_64"});
    CHECK(parse_tag_set("py3.py3-none-any")->size() == 1);
    CHECK(parse_tag_set("cp39.cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64")->size() == 4);
    CHECK(parse_tag_set("graalpy311-graalpy240_311_native-win_amd64").has_value());
}

TEST_CASE("text that is not a tag set is rejected") {
    for (const char* text : {"", "py3", "py3-none", "py3-none-any-x", "--", "py3--any", "py3-none-",
                             "py3.-none-any", ".py3-none-any", "py3-none-any any", "3py-none-any",
                             "py3-none-lin/ux", "py3-none-any\n", "p\xC3\xA9-none-any"}) {
        const auto tags = parse_tag_set(text);
        REQUIRE_MESSAGE(!tags.has_value(), text);
        CHECK(tags.error().code == "tag.invalid");
    }
    std::string wide = "py0";
    for (int i = 1; i < 40; ++i)
        wide += ".py" + std::to_string(i);
    CHECK(parse_tag_set(wide + "-none-any").has_value());
    CHECK_FALSE(parse_tag_set(wide + "-" + wide + "-any").has_value());
}

TEST_CASE("platforms are parsed, including legacy manylinux names") {
    struct Row {
        const char* text;
        PlatformKind kind;
        int major;
        int minor;
        const char* machine;
    };
    const Row rows[] = {{"any", PlatformKind::any, 0, 0, ""},
                        {"linux_x86_64", PlatformKind::linux, 0, 0, "x86_64"},
                        {"linux_aarch64", PlatformKind::linux, 0, 0, "aarch64"},
                        {"manylinux1_i686", PlatformKind::manylinux, 2, 5, "i686"},
                        {"manylinux2010_x86_64", PlatformKind::manylinux, 2, 12, "x86_64"},
                        {"manylinux2014_aarch64", PlatformKind::manylinux, 2, 17, "aarch64"},
                        {"manylinux_2_28_x86_64", PlatformKind::manylinux, 2, 28, "x86_64"},
                        {"musllinux_1_2_x86_64", PlatformKind::musllinux, 1, 2, "x86_64"},
                        {"manylinux_2_28", PlatformKind::other, 0, 0, ""},
                        {"manylinux_2_28_", PlatformKind::other, 0, 0, ""},
                        {"manylinux_2_x_x86_64", PlatformKind::other, 0, 0, ""},
                        {"manylinux_99999999999_1_x86_64", PlatformKind::other, 0, 0, ""},
                        {"manylinux2014_", PlatformKind::other, 0, 0, ""},
                        {"manylinux2015_x86_64", PlatformKind::other, 0, 0, ""},
                        {"linux_", PlatformKind::other, 0, 0, ""},
                        {"win_amd64", PlatformKind::other, 0, 0, ""},
                        {"macosx_11_0_arm64", PlatformKind::other, 0, 0, ""},
                        {"", PlatformKind::other, 0, 0, ""}};
    for (const auto& row : rows) {
        const auto platform = parse_platform(row.text);
        CHECK_MESSAGE(platform.kind == row.kind, row.text);
        CHECK_MESSAGE(platform.libc_major == row.major, row.text);
        CHECK_MESSAGE(platform.libc_minor == row.minor, row.text);
        CHECK_MESSAGE(platform.machine == row.machine, row.text);
    }
}

TEST_CASE("the best of a wheel's tags decides; a wheel for another platform has none") {
    const auto supported =
        supported_tags({.python_minor = 12, .machine = "x86_64", .glibc_major = 2, .glibc_minor = 28});
    const auto exact = best_position(*parse_tag_set("cp312-cp312-linux_x86_64"), supported);
    const auto many =
        best_position(*parse_tag_set("cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64"), supported);
    const auto stable = best_position(*parse_tag_set("cp39-abi3-manylinux_2_17_x86_64"), supported);
    const auto pure = best_position(*parse_tag_set("py2.py3-none-any"), supported);
    REQUIRE((exact && many && stable && pure));
    CHECK(*exact == 0);
    CHECK(*exact < *many);
    CHECK(*many < *stable);
    CHECK(*stable < *pure);
    CHECK_FALSE(best_position(*parse_tag_set("cp312-cp312-manylinux_2_34_x86_64"), supported).has_value());
    CHECK_FALSE(best_position(*parse_tag_set("cp312-cp312-linux_aarch64"), supported).has_value());
    CHECK_FALSE(best_position(*parse_tag_set("cp311-cp311-linux_x86_64"), supported).has_value());
    CHECK_FALSE(best_position({}, supported).has_value());
}

TEST_CASE("a free-threaded Python accepts no abi3 wheel") {
    const auto supported =
        supported_tags({.python_minor = 13, .free_threaded = true, .glibc_major = 2, .glibc_minor = 28});
    CHECK(supported.front().text() == "cp313-cp313t-linux_x86_64");
    CHECK_FALSE(best_position(*parse_tag_set("cp313-abi3-linux_x86_64"), supported).has_value());
    CHECK_FALSE(best_position(*parse_tag_set("cp313-cp313-linux_x86_64"), supported).has_value());
    CHECK(best_position(*parse_tag_set("py3-none-any"), supported).has_value());
}

// packaging.tags 25.0: _cpython_abis() and _generic_abi().
TEST_CASE(
    "a debug build has its own ABI before that of a release build, and PyPy the ABI of its interpreter") {
    const auto debug =
        supported_tags({.python_minor = 11, .debug = true, .glibc_major = 2, .glibc_minor = 5});
    CHECK(debug.front().text() == "cp311-cp311d-linux_x86_64");
    const auto own = best_position(*parse_tag_set("cp311-cp311d-linux_x86_64"), debug);
    const auto release = best_position(*parse_tag_set("cp311-cp311-linux_x86_64"), debug);
    const auto stable = best_position(*parse_tag_set("cp311-abi3-linux_x86_64"), debug);
    REQUIRE((own && release && stable));
    CHECK(*own < *release);
    CHECK(*release < *stable);
    const auto pypy = supported_tags({.python_minor = 11, .cpython = false, .pypy_abi = "pp80"});
    CHECK(pypy.front().text() == "pp311-pypy311_pp80-linux_x86_64");
}

TEST_CASE("an invalid environment yields a bounded list") {
    CHECK(supported_tags({.python_minor = 2'000'000'000, .glibc_major = 2'000'000'000, .musl_major = 1})
              .size() < 100'000);
    CHECK_FALSE(supported_tags({.python_minor = -5, .machine = ""}).empty());
}

}  // namespace wheelyard::wheel
