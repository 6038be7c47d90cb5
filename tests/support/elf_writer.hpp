// Writes small ELF files for tests: a header, one loaded segment, a dynamic section with needed libraries and
// symbol versions, and arbitrary sections. They cannot be loaded, but readelf and lib/inspect read them
// alike.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace wheelyard::test_support {

struct ElfImage {
    std::uint16_t machine = 62;  // EM_X86_64; 183 is aarch64, 40 arm, 190 CUDA
    std::uint16_t type = 3;      // ET_DYN
    unsigned bits = 64;
    bool big_endian = false;
    std::uint32_t flags = 0;
    std::string soname = {};
    std::vector<std::string> needed = {"libc.so.6"};
    std::string rpath = {};
    std::string runpath = {};
    std::map<std::string, std::vector<std::string>> versions = {};   // "libc.so.6" → {"GLIBC_2.17"}
    std::vector<std::pair<std::string, std::string>> sections = {};  // ".nv_fatbin" → bytes
    std::vector<std::string> imports = {};                           // undefined dynamic symbols
    std::vector<std::string> weak_imports = {};
    std::vector<std::string> exports = {};
    bool gnu_hash = true;           // DT_GNU_HASH or DT_HASH
    bool executable_stack = false;  // PT_GNU_STACK with PF_X
    std::string notes = {};         // content of a PT_NOTE segment
    std::string interpreter = {};   // "/lib64/ld-linux-x86-64.so.2"
    // Flaws that the dynamic linker ignores: section headers of the wrong size, and the count in DT_HASH (0:
    // correct).
    bool sizeless_sections = false;
    std::uint32_t hashed_symbols = 0;
    bool both_hashes = false;  // DT_HASH in addition to DT_GNU_HASH
    bool relocated = false;    // a relocation for each import, as every real file has
    std::uint8_t os_abi = 0;
    std::uint8_t abi_version = 0;
    bool pie = false;  // DF_1_PIE
};

[[nodiscard]] std::string write_elf(const ElfImage& image);

// A note with GNU program properties: {0xc0008002, 4} means "needs x86-64-v3".
[[nodiscard]] std::string write_property_note(
    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& properties, bool big_endian = false);

// The content of device code sections.
struct FatbinEntry {
    std::uint16_t kind = 2;  // 1: PTX, 2: machine code
    std::uint32_t arch = 90;
    std::string payload = std::string(40, 'c');
    std::uint64_t flags = 0x11;  // 64 bits, Linux; bit 20: `a`, bit 21: `f`
};
[[nodiscard]] std::string write_fatbin(const std::vector<FatbinEntry>& entries);
[[nodiscard]] std::string write_hip_bundle(
    const std::vector<std::string>& ids);  // "hipv4-amdgcn-amd-amdhsa--gfx90a"

}  // namespace wheelyard::test_support
