#include "lib/inspect/elf/elf.hpp"

#include <doctest/doctest.h>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/elf/elf_sections.hpp"
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
    image.imports = {"PyList_New", "PyType_GetName", "_ZN3c1021throwNullDataPtrErrorEv"};
    image.weak_imports = {"PyErr_GetRaisedException"};
    image.exports = {"PyInit_six", "_Z3sixRKSs"};
    image.interpreter = "/lib64/ld-linux-x86-64.so.2";
    return image;
}

// Little-endian fields of a complete 64-bit file.
constexpr std::uint64_t dt_symtab = 6, dt_strsz = 10;
std::uint64_t field(const std::string& bytes, std::uint64_t at, int width) {
    std::uint64_t value = 0;
    for (int i = width; i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(bytes.at(at + static_cast<std::uint64_t>(i)));
    return value;
}
void set_field(std::string& bytes, std::uint64_t at, std::uint64_t value, int width) {
    for (int i = 0; i < width; ++i)
        bytes.at(at + static_cast<std::uint64_t>(i)) = static_cast<char>(value >> (8 * i) & 0xff);
}
// The offset of the entry with this tag in the dynamic section, which the second program header refers to.
std::uint64_t dynamic_entry(const std::string& bytes, std::uint64_t tag) {
    std::uint64_t at = field(bytes, 64 + 56 + 8, 8);
    while (field(bytes, at, 8) != tag)
        at += 16;
    return at;
}

}  // namespace

TEST_CASE("the dynamic linker's view is read for both classes and byte orders") {
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
            CHECK(elf->search_paths == std::vector<std::string>{"$ORIGIN/../lib", "/usr/lib"});
            const std::vector<inspect::ElfVersionNeed> needs = {
                {"libc.so.6", "GLIBC_2.17"}, {"libc.so.6", "GLIBC_2.34"}, {"libm.so.6", "GLIBC_2.29"}};
            CHECK(elf->version_needs == needs);
            REQUIRE(elf->sections.size() == 4);
            CHECK(elf->sections[1].name == ".nv_fatbin");
            CHECK(elf->sections[1].size == 3);
        }
    }
}

TEST_CASE("search paths may be longer than PATH_MAX, as in jax's ROCm plugins") {
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
    image.runpath.clear();
    image.rpath = "/opt/site/lib";  // read where there is no RUNPATH
    CHECK(parse(write_elf(image)).value().search_paths == std::vector<std::string>{"/opt/site/lib"});
    image.runpath = base::join(std::vector<std::string>(1'001, "/a"), ":");
    CHECK_FALSE(parse(write_elf(image)).has_value());
}

TEST_CASE("symbols are counted with either hash table, for both classes and byte orders") {
    for (const unsigned bits : {64u, 32u}) {
        for (const bool big : {false, true}) {
            for (const bool gnu_hash : {false, true}) {
                ElfImage image = full_image();
                image.bits = bits;
                image.big_endian = big;
                image.gnu_hash = gnu_hash;
                const auto elf = parse(write_elf(image));
                REQUIRE_MESSAGE(elf, elf.error().text());
                CHECK(elf->interpreter == "/lib64/ld-linux-x86-64.so.2");
                CHECK(elf->symbols.python.count == 2);
                CHECK(elf->symbols.python.newest == "PyType_GetName");
                CHECK(elf->symbols.torch.at_least.text() == "2.4");
                CHECK(elf->symbols.string_abi() == inspect::StringAbi::old);
            }
        }
    }
}

TEST_CASE("imports are counted in a module without exports, whose hash table is empty") {
    for (const bool gnu_hash : {false, true}) {
        const auto elf = parse(write_elf({.imports = {"PyList_New", "Py_Exit"}, .gnu_hash = gnu_hash}));
        REQUIRE(elf);
        CHECK(elf->symbols.python.count == 2);
    }
}

TEST_CASE("symbols that all share one long name are rejected as malformed at low cost") {
    const std::string name(1000, 'x');
    const auto read = [&](std::uint64_t symbols) {
        std::string bytes;
        for (std::uint64_t i = 0; i < symbols; ++i)
            bytes.append(1, '\1').append(23, '\0');
        inspect::SymbolTable table;
        table.count = symbols;
        table.strings_offset = bytes.size();
        table.strings_bytes = name.size() + 2;
        bytes.append(1, '\0').append(name).append(1, '\0');
        const base::MemoryReader reader(bytes);
        std::uint64_t seen = 0;
        const auto status = inspect::for_each_symbol(
            reader, table,
            [&](const inspect::DynamicSymbol& symbol) { seen += symbol.name == name ? 1u : 0u; });
        return std::pair(status.has_value(), seen);
    };
    CHECK(read(16) == std::pair<bool, std::uint64_t>{true, 16});
    CHECK(read(100) == std::pair<bool, std::uint64_t>{false, 16});
}

TEST_CASE("processor features are read from the notes; other notes are skipped") {
    using test_support::write_property_note;
    const std::string other_note("\4\0\0\0\4\0\0\0\1\0\0\0GNU\0abcd",
                                 20);  // NT_GNU_ABI_TAG, which every program has
    const auto x86 = parse(
        write_elf({.notes = write_property_note({{0xc0000002, 3}, {0xc0008002, 5}, {0xc0010002, 15}})}));
    REQUIRE(x86);
    CHECK(x86->notes.x86_needed == 3);
    CHECK(x86->notes.x86_used == 4);
    CHECK(x86->notes.x86_ibt);
    CHECK(x86->notes.x86_shstk);
    CHECK_FALSE(x86->notes.arm_bti);
    const auto arm =
        parse(write_elf({.machine = 183, .notes = other_note + write_property_note({{0xc0000000, 3}})}));
    REQUIRE(arm);
    CHECK(arm->notes.arm_bti);
    CHECK(arm->notes.arm_pac);
    CHECK_FALSE(arm->notes.arm_gcs);
    CHECK(arm->notes.x86_needed == 0);
    const auto junk = parse(write_elf({.notes = std::string(64, '\xff')}));
    REQUIRE(junk);
    CHECK(junk->notes.x86_needed == 0);
}

TEST_CASE("the size of debug sections is counted") {
    const auto elf = parse(write_elf(
        {.sections = {{".debug_info", std::string(1000, 'd')}, {".zdebug_line", "dd"}, {".text", "t"}}}));
    REQUIRE(elf);
    CHECK(elf->debug_bytes == 1002);
    CHECK(elf->file_bytes > 1002);
}

TEST_CASE("DT_HASH has eight-byte words on s390x only") {
    for (const bool s390x : {true, false}) {
        ElfImage image = full_image();
        image.big_endian = s390x;
        image.machine = s390x ? 22 : 62;
        image.gnu_hash = false;
        image.imports = {"PyLong_FromLong", "memcpy"};
        image.exports = {"PyInit_six"};
        const auto elf = parse(write_elf(image));
        REQUIRE_MESSAGE(elf, elf.error().text());
        CHECK(elf->symbols.python.count == 1);
    }
}

TEST_CASE("only the beginning of a section name is stored: thousands of sections could share a long one") {
    const std::string name(base::mib, 'n');
    const auto elf = parse(write_elf({.sections = {{name, "abc"}, {".nv_fatbin", "abc"}}}));
    REQUIRE(elf);
    REQUIRE(elf->sections.size() == 4);
    CHECK(elf->sections[1].name == name.substr(0, inspect::max_section_name_bytes));
    CHECK(elf->sections[2].name == ".nv_fatbin");
}

TEST_CASE("long names shared by many version needs count once per stored copy") {
    const auto with_versions = [](int count) {
        ElfImage image;
        std::vector<std::string> versions;
        for (int i = 0; i < count; ++i)
            versions.push_back("V" + std::to_string(i));
        image.versions = {{std::string(60'000, 'l'), versions}};
        return parse(write_elf(image));
    };
    CHECK(with_versions(10));
    const auto many = with_versions(30);
    REQUIRE_FALSE(many);
    CHECK(many.error().code == "elf.malformed");
}

TEST_CASE("the dynamic section is that which the dynamic linker loads") {
    const std::string valid = write_elf(full_image());
    constexpr std::uint64_t dynamic_header = 64 + 56;
    std::string moved = valid;
    set_field(moved, dynamic_header + 8, 0, 8);  // p_offset; p_vaddr stays
    REQUIRE_FALSE(parse(moved));
    CHECK(parse(moved).error().code == "elf.malformed");
    // The last header counts.
    std::string twice = valid;
    set_field(twice, 32, valid.size(), 8);  // e_phoff
    std::string headers = valid.substr(64, field(valid, 56, 2) * 56);
    headers += headers.substr(56, 56);
    set_field(headers, 56 + 8, 0, 8);
    set_field(headers, 56 + 16, 0, 8);
    set_field(twice, 56, headers.size() / 56, 2);
    CHECK(parse(twice + headers)->needed == full_image().needed);
}

TEST_CASE("a string table ends with the file, whatever DT_STRSZ says") {
    ElfImage image;
    image.exports.assign(400, "f");
    image.exports[0] = std::string(4000, 'x');
    const std::string valid = write_elf(image);
    CHECK(parse(valid)->flaw.empty());
    // All names become the long one: first by itself, then with a string table of unlimited size.
    std::string sharing = valid;
    const std::uint64_t symbols = field(valid, dynamic_entry(valid, dt_symtab) + 8, 8);
    const std::uint64_t name = field(valid, symbols + 24, 4);
    for (std::uint64_t i = 1; i <= image.exports.size(); ++i)
        set_field(sharing, symbols + 24 * i, name, 4);
    CHECK_FALSE(parse(sharing)->flaw.empty());
    set_field(sharing, dynamic_entry(valid, dt_strsz) + 8, std::uint64_t{1} << 40, 8);
    const auto endless = parse(sharing);
    REQUIRE(endless);
    CHECK_FALSE(endless->flaw.empty());
}

TEST_CASE("notes under many headers are read up to a total of one megabyte") {
    const auto with_headers = [](std::uint64_t count) {
        std::string bytes = write_elf({.notes = std::string(60'000, '\xff')});
        const std::string note = bytes.substr(64 + 2 * 56, 56);
        std::string headers = bytes.substr(64, 2 * 56);
        for (std::uint64_t i = 0; i < count; ++i)
            headers += note;
        set_field(bytes, 32, bytes.size(), 8);  // e_phoff
        set_field(bytes, 56, 2 + count, 2);     // e_phnum
        return parse(bytes + headers);
    };
    CHECK(with_headers(10)->flaw.empty());
    const auto many = with_headers(20);
    REQUIRE(many);
    CHECK_FALSE(many->flaw.empty());
}

TEST_CASE("flaws that the dynamic linker ignores do not affect other facts") {
    for (const bool in_sections : {true, false}) {
        ElfImage image = full_image();
        image.gnu_hash = false;
        image.sizeless_sections = in_sections;
        image.hashed_symbols = in_sections ? 0 : 0xffffffff;
        const auto elf = parse(write_elf(image));
        REQUIRE_MESSAGE(elf, elf.error().text());
        CHECK_FALSE(elf->flaw.empty());
        CHECK(elf->needed == image.needed);
        CHECK(elf->version_needs.size() == 3);
        CHECK(elf->search_paths.size() == 2);
        CHECK(elf->sections.empty() == in_sections);
        CHECK((elf->symbols.python.count == 0) == !in_sections);
    }
    CHECK(parse(write_elf(full_image()))->flaw.empty());
}

TEST_CASE("no hash table hides a symbol: every symbol that a table or a relocation refers to is examined") {
    struct Row {
        std::string_view what;
        bool gnu_hash, both_hashes, relocated;
        std::uint64_t expected;
    };
    for (const Row& row : {Row{"DT_HASH has one symbol, DT_GNU_HASH more", true, true, false, 2},
                           Row{"DT_HASH has one symbol, relocations refer to more", false, false, true, 2},
                           Row{"nothing refers to the others", false, false, false, 0}}) {
        for (const unsigned bits : {64u, 32u}) {
            for (const bool big : {false, true}) {
                CAPTURE(row.what);
                ElfImage image = full_image();
                image.bits = bits;
                image.big_endian = big;
                image.gnu_hash = row.gnu_hash;
                image.both_hashes = row.both_hashes;
                image.relocated = row.relocated;
                image.hashed_symbols = 1;
                const auto elf = parse(write_elf(image));
                REQUIRE_MESSAGE(elf, elf.error().text());
                CHECK(elf->flaw.empty());
                CHECK(elf->symbols.python.count == row.expected);
            }
        }
    }
}

TEST_CASE("relocations beyond the file are a flaw") {
    ElfImage image = full_image();
    image.relocated = true;
    std::string bytes = write_elf(image);
    constexpr std::uint64_t dt_pltrelsz = 2;
    set_field(bytes, dynamic_entry(bytes, dt_pltrelsz) + 8, 24 * 1000, 8);
    const auto elf = parse(bytes);
    REQUIRE(elf);
    CHECK_FALSE(elf->flaw.empty());
    CHECK(elf->needed == image.needed);
}

TEST_CASE("the OS ABI is read; Linux loads System V and GNU files") {
    struct Row {
        std::uint8_t number;
        std::string_view name;
        bool linux_loads;
    };
    for (const Row& row : {Row{0, "System V", true}, Row{3, "GNU", true}, Row{9, "FreeBSD", false},
                           Row{12, "OpenBSD", false}, Row{200, "OS ABI 200", false}}) {
        const auto elf = parse(write_elf({.os_abi = row.number}));
        REQUIRE(elf);
        CHECK(elf->os_abi == row.number);
        CHECK(inspect::os_abi_text(row.number) == row.name);
        CHECK(inspect::is_linux_abi(row.number, "x86_64") == row.linux_loads);
    }
    CHECK(inspect::is_linux_abi(64, "armv7l"));
    CHECK_FALSE(inspect::is_linux_abi(64, "aarch64"));
}

TEST_CASE("sections are without names where the file has no bytes of them") {
    constexpr std::uint64_t e_shoff = 0x28, e_shstrndx = 0x3e, header_bytes = 64;
    constexpr std::uint64_t sh_type = 4, sh_offset = 24, nobits = 8;
    const auto check = [](const std::string& bytes) {
        const auto facts = parse(bytes);
        REQUIRE_MESSAGE(facts, facts.error().text());
        CHECK(facts->sections.size() > 2);
        for (const auto& section : facts->sections)
            CHECK(section.name.empty());
    };
    std::string of_debug_file = write_elf(full_image());
    const std::uint64_t names =
        field(of_debug_file, e_shoff, 8) + header_bytes * field(of_debug_file, e_shstrndx, 2);
    set_field(of_debug_file, names + sh_type, nobits, 4);
    set_field(of_debug_file, names + sh_offset, of_debug_file.size() * 2, 8);
    check(of_debug_file);
    std::string none = write_elf(full_image());
    set_field(none, e_shstrndx, 0, 2);
    check(none);
}

TEST_CASE("machines have the names of platform tags") {
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

TEST_CASE("an inconsistent file is malformed and never read beyond its end") {
    const std::string whole = write_elf(full_image());
    REQUIRE(parse(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const auto elf = parse(whole.substr(0, length));
        if (elf)
            CHECK_FALSE(elf->flaw.empty());
        else
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
