// An ELF file inside of a wheel, and what it was found to be.
#pragma once

#include <string>

#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

struct ElfMember {
    std::string name;  // of the member
    ElfFacts elf;
    GpuFacts gpu = {};  // the device code inside of it
};

}  // namespace wheelyard::inspect
