// An ELF file inside of a wheel, and what it was found to be.
#pragma once

#include <string>

#include "lib/inspect/elf.hpp"

namespace wheelyard::inspect {

struct ElfMember {
    std::string name;  // of the member
    ElfFacts elf;
};

}  // namespace wheelyard::inspect
