#include "lib/inspect/elf.hpp"

#include <doctest/doctest.h>

#include "lib/base/text.hpp"
#include "tests/support/elf_writer.hpp"

using namespace wheelyard;
using test_support::ElfImage;
using test_support::write_elf;

namespace {

base::Result<inspect::ElfFacts> parse(const std::string& bytes) {
    const base::MemoryReader reader(bytes);
    return inspect::parse_elf(reader);
}

ElfImage full_image() {
    ElfImage image;
    image.soname = "libsix.so.1";
    image.needed = {"libc.so.6", "libm.so.6"};
    image.rpath = "/opt/site/lib";
    image.runpath = "$ORIGIN/../lib:/usr/lib";
    image.versions = {{"libc.so.6", {"GLIBC_2.17", "GLIBC_2.34"}}, {"libm.so.6", {"GLIBC_2.29"}}};
    image.sections = {{".nv_fatbin", "abc"}, {".comment", "GCC"}};
    return image;
}

}  // namespace

TEST_CASE("the dynamic linker's view is read in both classes and byte orders") {
    for (const unsigned bits : {64u, 32u}) {
        for (const bool big : {false, true}) {
            ElfImage image = full_image();
            image.bits = bits;
            image.big_endian = big;
            const auto elf = parse(write_elf(image));
            REQUIRE_MESSAGE(elf, elf.error().text());
            CHECK(elf->bits == bits);
            CHECK(elf->big_endian == big);
            CHECK(elf->kind == inspect::ElfKind::shared);
            CHECK(elf->soname == "libsix.so.1");
            CHECK(elf->needed == image.needed);
            CHECK(elf->search_paths ==
                  std::vector<std::string>{"/opt/site/lib", "$ORIGIN/../lib", "/usr/lib"});
            const std::vector<inspect::ElfVersionNeed> needs = {
                {"libc.so.6", "GLIBC_2.17"}, {"libc.so.6", "GLIBC_2.34"}, {"libm.so.6", "GLIBC_2.29"}};
            CHECK(elf->version_needs == needs);
            REQUIRE(elf->sections.size() == 4);
            CHECK(elf->sections[1].name == ".nv_fatbin");
            CHECK(elf->sections[1].size == 3);
        }
    }
}

TEST_CASE("search paths may be longer than PATH_MAX: those of jax's ROCm plugins name a hundred folders") {
    ElfImage image = full_image();
    std::vector<std::string> folders;
    for (int i = 0; i < 120; ++i)
        folders.push_back("$ORIGIN/../../../../python3.12/dist-packages/_rocm_sdk_libraries_gfx" +
                          std::to_string(i) + "/lib");
    image.rpath.clear();
    image.runpath = base::join(folders, ":");
    REQUIRE(image.runpath.size() > 8192);
    const auto elf = parse(write_elf(image));
    REQUIRE_MESSAGE(elf, elf.error().text());
    CHECK(elf->search_paths == folders);
}

TEST_CASE("machines are named as platform tags name them") {
    struct Row {
        std::uint16_t machine;
        unsigned bits;
        bool big_endian;
        std::string_view name;
    };
    for (const Row& row :
         {Row{62, 64, false, "x86_64"}, Row{62, 32, false, "x32"}, Row{183, 64, false, "aarch64"},
          Row{3, 32, false, "i686"}, Row{40, 32, false, "armv7l"}, Row{21, 64, false, "ppc64le"},
          Row{21, 64, true, "ppc64"}, Row{22, 64, true, "s390x"}, Row{243, 64, false, "riscv64"},
          Row{190, 64, false, "cuda"}, Row{4321, 64, false, "machine 4321"}}) {
        ElfImage image;
        image.machine = row.machine;
        image.bits = row.bits;
        image.big_endian = row.big_endian;
        const auto elf = parse(write_elf(image));
        REQUIRE(elf);
        CHECK(elf->machine == row.name);
    }
}

TEST_CASE("a file that contradicts itself is malformed, never read beyond its end") {
    const std::string whole = write_elf(full_image());
    REQUIRE(parse(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto elf = parse(whole.substr(0, length));
        REQUIRE_FALSE(elf);
        CHECK(elf.error().code == "elf.malformed");
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const int change : {0x01, 0x80, 0xff}) {
            std::string flipped = whole;
            flipped[at] = static_cast<char>(flipped[at] ^ change);
            const auto elf = parse(flipped);
            if (!elf) CHECK(elf.error().code == "elf.malformed");
        }
    }
}
