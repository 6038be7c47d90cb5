// Symbols that system libraries do not guarantee: when they violate a tag.
#include "lib/inspect/elf/private_symbols.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

bool is_reported(const Wheel& wheel) {
    for (const auto& verdict : checked(wheel).verdicts)
        if (verdict.code == "elf.private_symbol") return true;
    return false;
}

}  // namespace

TEST_CASE("a symbol is reported if its library is needed, not in the wheel, and not guaranteed by the tag") {
    const std::string tag_28 = "cp311-cp311-manylinux_2_28_x86_64",
                      tag_34 = "cp311-cp311-manylinux_2_34_x86_64", musl = "cp311-cp311-musllinux_1_2_x86_64";
    const std::vector<std::string> with_zlib = {"libc.so.6", "libz.so.1"};
    struct Row {
        std::string_view what;
        std::string tags;
        ElfImage image;
        bool reported;
    };
    for (const Row& row :
         {Row{"zlib's own", tag_28, {.needed = with_zlib, .imports = {"inflate_table"}}, true},
          Row{"promised since 2.34", tag_28, {.needed = with_zlib, .imports = {"uncompress2"}}, true},
          Row{"guaranteed by this tag", tag_34, {.needed = with_zlib, .imports = {"uncompress2"}}, false},
          Row{"library not needed", tag_28, {.imports = {"inflate_table"}}, false},
          Row{"copes without", tag_28, {.needed = with_zlib, .weak_imports = {"inflate_table"}}, false},
          Row{"offered, not imported", tag_28, {.needed = with_zlib, .exports = {"inflate_table"}}, false},
          Row{"linux tags guarantee nothing",
              linux_311,
              {.needed = with_zlib, .imports = {"inflate_table"}},
              false},
          Row{"not listed for musl", musl, {.needed = {"libz.so.1"}, .imports = {"z_vstring"}}, false}}) {
        CAPTURE(row.what);
        CHECK(is_reported(with_elf(row.tags, row.image)()) == row.reported);
    }
    CHECK_FALSE(
        is_reported(with_elf(tag_28, {.needed = with_zlib, .imports = {"inflate_table"}}, "six/_six.so",
                             "1.16.0", [](WheelWriter& w) { w.add("six/libz.so.1", write_elf({})); })()));
}

TEST_CASE("the oldest fitting tag guarantees all imported symbols") {
    const auto fit = [](const ElfImage& image) {
        return checked(with_elf(linux_311, image)()).facts.manylinux_fit;
    };
    CHECK(fit({}) == "manylinux_2_5_x86_64");
    CHECK(fit({.imports = {"__cxa_thread_atexit_impl"}}) == "manylinux_2_24_x86_64");
    CHECK(fit({.needed = {"libz.so.1"}, .imports = {"uncompress2"}}) == "manylinux_2_34_x86_64");
    CHECK(fit({.needed = {"libz.so.1"}, .imports = {"inflate_fast"}}) == "linux_x86_64");
}

TEST_CASE("one symbol may belong to two libraries") {
    CHECK(inspect::private_symbols("__issignaling").size() == 2);
    CHECK(inspect::private_symbols("inflate").empty());
}
