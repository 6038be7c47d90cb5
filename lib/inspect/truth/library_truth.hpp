// Compares the libraries that one ELF file needs, and its search paths, with the platform tags and the
// index's policy.
#pragma once

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Checks glibc, musl and the C++ runtime: which C library, and the versions of symbols.
void check_runtime(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                   Findings& findings);
// Reports DT_NEEDED libraries that a manylinux or musllinux tag does not allow.
void check_needed(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                  const RequiredLibraries& required, Findings& findings);
void check_search_paths(const ElfMember& member, const Policy& policy, Findings& findings);

}  // namespace wheelyard::inspect
