// The facts that the bytes of a wheel prove.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/dist_info/component.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {

struct Facts {
    std::uint64_t size_bytes = 0;      // of the file
    std::uint64_t unpacked_bytes = 0;  // of all members
    std::uint64_t members = 0;
    std::vector<wheel::Tag>
        tags;  // the expanded tags of WHEEL; a verdict reports differences from the file name
    bool root_is_purelib = false;
    std::string requires_python;
    bool static_metadata = false;  // of an sdist: its PKG-INFO holds for each wheel built from it (PEP 643)
    std::uint64_t elf_files = 0;   // shared objects and programs
    std::vector<std::string> machines;  // machines of the ELF files: "x86_64", "aarch64"
    // The highest required version per symbol-version prefix: {"GLIBC": "2.17", "GLIBCXX": "3.4.21",
    // "CXXABI": "1.3.9"}.
    std::map<std::string, std::string> symbol_floors;
    std::vector<std::string> needed_external;  // DT_NEEDED libraries that the wheel does not contain, sorted
    // All DT_NEEDED libraries by kind (libraries.hpp): {"inside": […], "system": […], "cuda": […]}; no empty
    // lists. "unfound": those of the wheel that the dynamic linker does not find for some file. "project":
    // unknown ones that a project of Requires-Dist brings.
    std::map<std::string, std::vector<std::string>> needed;
    // Libraries of needed_external, and unfound ones of the wheel, that its import does not need, and those
    // that it may need, each with a module or file that does: {"libX11.so.6": "rdkit.Chem.Draw.rdMolDraw2DQt"}. Nothing is
    // known of a wheel without modules.
    std::map<std::string, std::string> needed_later, needed_maybe;
    // Those of no known kind, and unfound ones, that the import needs for certain, with a module or file that does:
    // {"libodbc.so.2": "pyodbc"}.
    std::map<std::string, std::string> needed_surely;
    // A module or file that the import loads and that was compiled for AVX, or AVX-512, as a whole.
    std::string avx_code, avx512_code;
    // C functions of PyPy by the module that needs them, {"a._b": {"PyPyList_New"}}, each name once and at
    // most max_python_names: of what the import loads, and of the rest.
    std::map<std::string, std::vector<std::string>> pypy_names, pypy_later;
    std::string executable_stack;  // of what the import may load, one that asks for one
    std::string sve_code;  // the same with SVE, and with nothing that asks whether the processor has it
    // Modules that the import needs for certain and that some Pythons, or all that is required, lack, with
    // the module that imports them: {"cgi", "a.b"}.
    std::map<std::string, std::string> sure_imports;
    std::vector<std::string> provides;  // libraries that other wheels can load from this one, sorted
    // SHA-256 of these and of those that its own files load, by name. Without names that several files have,
    // with different bytes, and at most max_library_hashes.
    std::map<std::string, std::string> library_sha256;
    // The platform tags that were not compared with the ELF files: of other systems than Linux, and of
    // machines that the table does not name.
    std::vector<std::string> not_judged;
    std::vector<std::string>
        libc;  // "glibc", "musl", "bionic": the C libraries that the ELF files are linked to
    // The oldest manylinux tag that the required versions and libraries satisfy, or "linux_x86_64" if none
    // does. Empty for musl and bionic, for several or unknown machines, and without ELF files.
    std::string manylinux_fit;
    std::string musllinux_fit;  // the same for musl: "musllinux_1_2_x86_64"
    std::vector<std::string>
        search_paths;                  // RPATH and RUNPATH entries that do not begin with $ORIGIN, sorted
    std::vector<std::string> modules;  // environment modules of these paths: "cudacore/12.2.2"
    // The oldest Python whose Stable ABI covers all imports of the modules ("3.7"); empty if one imports
    // anything else.
    std::string stable_abi_floor;
    std::string cxx11_abi;   // of std::string in C++ names: "true", "false", "mixed"; empty: no such names
    std::string isa_needed;  // x86-64 level that loading requires, "x86-64-v3"; empty: not noted
    std::string isa_used;    // highest x86-64 level used, possibly behind a run-time check
    std::vector<std::string> cpu_features;  // noted by every ELF file: "ibt", "shstk", "bti", "pac", "gcs"
    std::uint64_t elf_bytes = 0;
    std::uint64_t debug_bytes = 0;  // part of elf_bytes in debug sections
    // The torch versions that the imports are compatible with; empty: unknown, or torch is not used.
    std::string torch_cxx11_abi;              // like cxx11_abi, for torch's own names
    std::string torch_stable_abi;             // "true": they are names of its stable ABI only; "false"
    std::string torch_at_least;               // "2.4"
    std::string torch_below;                  // "2.9"
    std::vector<std::string> torch_requires;  // Requires-Dist of torch, as written in METADATA
    std::vector<std::string> requires_dist;   // every Requires-Dist, as written
    std::string variant;                      // wheel::Variant::document of a variant wheel (PEP 825)
    Components components;                    // what its SBOMs name
    // The lists of device code (lib/accelerator), sorted, unique: {"cuda_sm": ["sm_90"], "cuda_ptx":
    // ["compute_90"], "hip_gfx": ["gfx90a:xnack-"]}.
    std::map<std::string, std::vector<std::string>, std::less<>> device_code;
    std::vector<std::string>
        device_code_not_read;  // the kinds of accelerators whose code is there and is not read

    [[nodiscard]] const std::vector<std::string>& code(std::string_view fact) const {  // empty: there is none
        static const std::vector<std::string> none;
        const auto found = device_code.find(fact);
        return found == device_code.end() ? none : found->second;
    }
};

// An ELF file in a wheel, with its facts.
struct ElfMember {
    std::string name;  // the archive member's name
    ElfFacts elf;
    GpuFacts gpu = {};        // device code in the file
    bool may_run = false;     // installed with permission to run
    TorchNames torch = {};    // if InspectOptions asks for them
    std::string sha256 = {};  // of its bytes; empty: RECORD has another kind of digest
};

}  // namespace wheelyard::inspect
