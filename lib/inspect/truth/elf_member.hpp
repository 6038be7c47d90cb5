// An ELF file in a wheel, with its facts.
#pragma once

#include <string>

#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

struct ElfMember {
    std::string name;  // the archive member's name
    ElfFacts elf;
    GpuFacts gpu = {};      // device code in the file
    bool may_run = false;   // installed with permission to run
    TorchNames torch = {};  // if InspectOptions asks for them
};

}  // namespace wheelyard::inspect
