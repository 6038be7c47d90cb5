// What the bytes of a wheel prove.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {

struct Facts {
    std::uint64_t size_bytes = 0;      // of the file
    std::uint64_t unpacked_bytes = 0;  // of all members
    std::uint64_t members = 0;
    std::vector<wheel::Tag> tags;  // as WHEEL says (expanded) once shown equal to the file name's
    bool root_is_purelib = false;
    std::string requires_python;
    std::uint64_t elf_files = 0;        // shared objects and programs inside
    std::vector<std::string> machines;  // ELF machines found: "x86_64", "aarch64"
    // Highest needed version per symbol-version prefix: {"GLIBC": "2.17", "GLIBCXX": "3.4.21", "CXXABI":
    // "1.3.9"}.
    std::map<std::string, std::string> symbol_floors;
    std::vector<std::string> needed_external;  // DT_NEEDED that the wheel does not contain itself, sorted
    // Every DT_NEEDED by its kind (libraries.hpp): {"inside": […], "system": […], "cuda": […]}; no empty
    // lists.
    std::map<std::string, std::vector<std::string>> needed;
    std::vector<std::string> libc;  // "glibc", "musl": what the ELF files are linked to
    // The oldest manylinux tag that versions and libraries fit, "linux_x86_64" where none does; empty for
    // musl, for several machines and without ELF files.
    std::string manylinux_fit;
    std::vector<std::string> search_paths;  // RPATH and RUNPATH that do not begin with $ORIGIN, sorted
    std::vector<std::string> modules;       // environment modules that they belong to: "cudacore/12.2.2"
    // The oldest Python whose Stable ABI has all that the modules import ("3.7"); empty where one imports
    // more.
    std::string stable_abi_floor;
    std::string cxx11_abi;   // of std::string in C++ names: "true", "false", "mixed"; empty: no such name
    std::string isa_needed;  // x86-64 level without which nothing loads, "x86-64-v3"; empty: not noted
    std::string isa_used;    // … and the highest that is used, perhaps behind a test
    std::vector<std::string> cpu_features;  // that every ELF file notes: "ibt", "shstk", "bti", "pac", "gcs"
    std::uint64_t elf_bytes = 0;
    std::uint64_t debug_bytes = 0;  // of them in debug sections
    // The torch that the imports fit; empty: nothing is known, or torch is not used.
    std::string torch_cxx11_abi;              // as cxx11_abi, of torch's own names
    std::string torch_at_least;               // "2.4"
    std::string torch_below;                  // "2.9"
    std::vector<std::string> torch_requires;  // Requires-Dist of torch, as METADATA has it
    std::vector<std::string> cuda_sm;         // "sm_90", sorted, unique
    std::vector<std::string> cuda_ptx;        // "compute_90"
    std::vector<std::string> hip_gfx;         // "gfx90a:xnack-"
};

}  // namespace wheelyard::inspect
