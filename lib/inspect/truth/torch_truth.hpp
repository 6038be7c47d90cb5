// Compares the torch that METADATA requires with the torch that the imported symbols prove.
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Checks facts.torch_requires: some version that it allows must have all symbols that the ELF files import.
void check_torch_truth(const std::vector<ElfMember>& elves, const Facts& facts, Findings& findings);

}  // namespace wheelyard::inspect
