// Compares extension modules with the Python in the tags: the file's suffix and, for abi3, the imported
// symbols.
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

void check_python_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                        const Promise& promise, Findings& findings);

}  // namespace wheelyard::inspect
