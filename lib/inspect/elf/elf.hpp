// The facts in an ELF file that decide where it can run: machine, required libraries and symbol versions.
// Follows the dynamic linker's view (program headers, dynamic section), because tools may strip section
// headers; lists sections only to find device code. Sources: System V ABI chapters 4 and 5; symbol
// versioning: Linux Standard Base 5.0 §10.7.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf_sections.hpp"
#include "lib/inspect/elf/elf_symbols.hpp"
#include "lib/inspect/elf/torch_abi.hpp"

namespace wheelyard::inspect {

// Imports from CPython's C API. Weak imports are ignored: the module works without them.
struct PythonImports {
    std::uint64_t count = 0;
    unsigned stable_since =
        0;  // the first Python 3 minor version whose Stable ABI has all imports that are part of it
    std::string newest;           // an import that this version added
    unsigned exported_since = 0;  // the first Python 3 minor version that exports all of these imports
    std::string newest_exported;
    std::vector<std::string> outside;   // imports that are in no Stable ABI: at most max_python_names
    std::vector<std::string> exported;  // names of this kind that the file defines: at most max_python_names
};
inline constexpr std::size_t max_python_names = 512;  // PySide's libraries define some 100

struct SymbolFacts {
    PythonImports python;
    StringNames api_strings;  // of names outside namespace std
    StringNames std_strings;  // of libstdc++'s own names: used if there are no others
    TorchImports torch;
    bool asks_processor = false;  // imports getauxval, which says what the processor has
    bool needs_fpectl = false;  // imports PyFPE_jbuf, which only Pythons configured with --with-fpectl export
    std::vector<std::string> private_imports;  // imported names of private_symbols.hpp, without duplicates

    [[nodiscard]] StringAbi string_abi() const;
    void take(const DynamicSymbol& symbol);
};

using TakeSymbol = std::function<void(const DynamicSymbol&)>;

// Passes every symbol on to `also`, which may be empty. Error "elf.malformed".
[[nodiscard]] base::Result<SymbolFacts> read_symbol_facts(const base::Reader& bytes, const SymbolTable& table,
                                                          const TakeSymbol& also);

// Processor features and the platform in an ELF file's notes (.note.gnu.property, .note.android.ident).
// Sources: Linux Extensions to gABI, "GNU program properties"; Android NDK, crtbrand.S; x86-64 psABI (x86
// feature and ISA properties); AArch64 ELF ABI (BTI, PAC, GCS).
struct FeatureNotes {
    // x86-64 micro-architecture levels, 1 (baseline) to 4; 0: no note, the default of most compilers.
    unsigned x86_needed = 0;  // the dynamic linker rejects lower processors
    unsigned x86_used = 0;    // contains code of this level, possibly behind a run-time check
    bool x86_ibt = false, x86_shstk = false;
    bool android = false;  // linked by the Android NDK, for bionic
    bool arm_bti = false, arm_pac = false, arm_gcs = false;
};

// Adds the content of the notes in `text` (a PT_NOTE or PT_GNU_PROPERTY segment). Skips malformed notes:
// notes are hints only.
void read_feature_notes(std::string_view text, unsigned bits, bool big_endian, std::uint16_t machine,
                        FeatureNotes& notes);

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
    bool is_pie =
        false;  // DF_1_PIE: a program, although its kind is `shared`; a static one has no interpreter
    std::string soname;
    std::vector<std::string> needed;
    std::vector<std::string> search_paths;  // DT_RUNPATH, or else DT_RPATH, split at ':'
    bool has_runpath = false;               // then what it loads inherits none of them
    std::vector<ElfVersionNeed> version_needs;
    SymbolFacts symbols;
    bool has_all_symbols = true;  // false: the table has a flaw, and `symbols` is empty
    FeatureNotes notes;
    VectorLevel vector_level = VectorLevel::sse;  // of x86-64 code
    bool has_executable_stack = false;            // a 64-bit file that asks for one: PT_GNU_STACK with PF_X
    bool has_plain_sve = false;  // aarch64 code with SVE, and nothing that asks whether the processor has it
    std::uint64_t file_bytes = 0;
    std::uint64_t debug_bytes = 0;  // size of the sections .debug_* and .zdebug_*
    std::vector<ElfSection> sections;
    std::string flaw;  // an inconsistency that the dynamic linker ignores; usually empty
};

// Error "elf.malformed" if data that the dynamic linker uses is inconsistent; any other error is an I/O
// error. Every dynamic symbol is also passed to `also`, which may be empty.
[[nodiscard]] base::Result<ElfFacts> parse_elf(const base::Reader& bytes, const TakeSymbol& also = {});

}  // namespace wheelyard::inspect
