// Compares the promises of the file name's tags with the ELF files in the wheel; installers do not check
// this.
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// Checks the tags against the ELF files that are loaded and the gathered facts, including device code.
void check_tag_truth(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                     const RequiredLibraries& required, const wheel::WheelFilename& filename,
                     const Promise& promise, const Facts& facts, const Policy& policy, Findings& findings);

}  // namespace wheelyard::inspect
