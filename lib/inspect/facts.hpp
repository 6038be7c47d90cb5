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
    std::vector<std::string> cuda_sm;          // "sm_90", sorted, unique
    std::vector<std::string> cuda_ptx;         // "compute_90"
    std::vector<std::string> hip_gfx;          // "gfx90a:xnack-"
};

}  // namespace wheelyard::inspect
