// The torch that METADATA asks for against the torch that the imported names prove.
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Judges facts.torch_requires: each of its versions must have what the ELF files import.
void check_torch_truth(const std::vector<ElfMember>& elves, const Facts& facts, Findings& findings);

}  // namespace wheelyard::inspect
