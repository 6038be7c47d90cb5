// The facts of a wheel as a whole, from those of each ELF file inside.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/inspect/elf_member.hpp"
#include "lib/inspect/facts.hpp"
#include "lib/inspect/zip.hpp"

namespace wheelyard::inspect {

// The library names that the wheel provides itself: files and sonames.
class ProvidedLibraries {
  public:
    ProvidedLibraries(const std::vector<ElfMember>& elves, const std::vector<Member>& members);
    [[nodiscard]] bool has(std::string_view library) const;

  private:
    std::set<std::string, std::less<>> names_;
};

// Fills what `facts` has to say about ELF files, device code apart.
void gather_elf_facts(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided, Facts& facts);

// Requires-Dist lines that name torch.
[[nodiscard]] std::vector<std::string> torch_requirements(const std::vector<std::string>& requires_dist);

}  // namespace wheelyard::inspect
