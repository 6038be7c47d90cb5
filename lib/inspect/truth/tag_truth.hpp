// What the file name's tags promise against what the ELF files inside are: the checks that no installer
// makes.
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// Judges tags against the ELF files and the gathered facts (device code included).
void check_tag_truth(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                     const wheel::WheelFilename& filename, const Facts& facts, const Policy& policy,
                     Findings& findings);

}  // namespace wheelyard::inspect
