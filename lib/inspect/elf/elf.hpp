// The facts in an ELF file that decide where it can run: machine, required libraries and symbol versions.
// Follows the dynamic linker's view (program headers, dynamic section), because tools may strip section
// headers; lists sections only to find device code. Sources: System V ABI chapters 4 and 5; symbol
// versioning: Linux Standard Base 5.0 §10.7.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf_notes.hpp"
#include "lib/inspect/elf/elf_sections.hpp"
#include "lib/inspect/elf/symbol_facts.hpp"

namespace wheelyard::inspect {

inline constexpr std::string_view elf_magic{
    "\x7f"
    "ELF",
    4};

// One needed symbol version: `file` must provide `version` ("libc.so.6", "GLIBC_2.17").
struct ElfVersionNeed {
    std::string file;
    std::string version;
    auto operator<=>(const ElfVersionNeed&) const = default;
};

enum class ElfKind { relocatable, executable, shared, core, other };

struct ElfFacts {
    ElfKind kind = ElfKind::other;
    unsigned bits = 64;
    bool big_endian = false;
    std::uint8_t os_abi = 0;       // EI_OSABI
    std::uint8_t abi_version = 0;  // EI_ABIVERSION
    std::uint16_t machine_number = 0;
    std::string machine;     // as in platform tags: "x86_64", "ppc64le"; others: "machine 1234"
    bool is_device = false;  // runs on a GPU or other device, not on the host
    std::uint32_t flags = 0;
    std::string interpreter;  // of programs: the path of their dynamic linker
    std::string soname;
    std::vector<std::string> needed;
    std::vector<std::string> search_paths;  // DT_RPATH and DT_RUNPATH, split at ':'
    std::vector<ElfVersionNeed> version_needs;
    SymbolFacts symbols;
    bool has_all_symbols = true;  // false: the table has a flaw, and `symbols` is empty
    FeatureNotes notes;
    std::uint64_t file_bytes = 0;
    std::uint64_t debug_bytes = 0;  // size of the sections .debug_* and .zdebug_*
    std::vector<ElfSection> sections;
    std::string flaw;  // an inconsistency that the dynamic linker ignores; usually empty
};

// Error "elf.malformed" if data that the dynamic linker uses is inconsistent; any other error is an I/O
// error. Every dynamic symbol is also passed to `also`, which may be empty.
[[nodiscard]] base::Result<ElfFacts> parse_elf(const base::Reader& bytes, const TakeSymbol& also = {});

}  // namespace wheelyard::inspect
