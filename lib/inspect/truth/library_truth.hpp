// The libraries that one ELF file needs, and where it looks for them, against the platform tags and the
// index's policy.
#pragma once

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// glibc, musl and the C++ runtime: their kind, and the versions of their symbols.
void check_runtime(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                   Findings& findings);
// DT_NEEDED beyond what a manylinux or musllinux tag allows.
void check_needed(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                  Findings& findings);
void check_search_paths(const ElfMember& member, const Policy& policy, Findings& findings);

}  // namespace wheelyard::inspect
