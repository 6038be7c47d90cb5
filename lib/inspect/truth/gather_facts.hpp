// The facts of a wheel as a whole, from those of each ELF file inside.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/manylinux.hpp"

namespace wheelyard::inspect {

// The library names that the wheel provides itself: names and sonames of its ELF files. glibc's own libraries
// never: the process has them before the wheel is loaded, so the system's are the ones that count.
class ProvidedLibraries {
  public:
    explicit ProvidedLibraries(const std::vector<ElfMember>& elves);
    [[nodiscard]] bool has(std::string_view library) const;
    // Whether `library` brings these symbols along. Versions of glibc come from no other library, whichever
    // is named: the dynamic linker looks symbols up in all that is loaded.
    [[nodiscard]] bool has(std::string_view library, const SymbolVersion& version) const;

  private:
    std::set<std::string, std::less<>> names_;
};

// Fills what `facts` has to say about ELF files, device code apart.
void gather_elf_facts(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided, Facts& facts);

// Requires-Dist lines that name torch.
[[nodiscard]] std::vector<std::string> torch_requirements(const std::vector<std::string>& requires_dist);

}  // namespace wheelyard::inspect
