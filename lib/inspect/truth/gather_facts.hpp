// Gathers the facts of a wheel from those of its ELF files.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/manylinux.hpp"
#include "lib/inspect/truth/required_libraries.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_library_hashes = 256;  // each copy of a row has them; torch has 30 libraries

// The libraries that the wheel itself provides: the names and sonames of its ELF files. Never glibc's own
// libraries: the process has loaded the system's before it loads the wheel.
class ProvidedLibraries {
  public:
    explicit ProvidedLibraries(const std::vector<ElfMember>& elves);
    [[nodiscard]] bool has(std::string_view library) const;
    // Whether the wheel's `library` provides symbols of `version`. Always false for glibc versions: only the
    // system's glibc provides them, whichever library is named, because the dynamic linker searches all
    // loaded libraries.
    [[nodiscard]] bool has(std::string_view library, const SymbolVersion& version) const;

  private:
    std::set<std::string, std::less<>> names_;
};

// Removes from the Python names outside of the Stable ABI those that a library defines, which is not Python's: one of the
// wheel, or one for the Stable ABI that the file needs of another wheel. PySide's PySide_init, Shiboken's PyMethod_New.
void leave_out_other_python_names(std::vector<ElfMember>& elves, const ProvidedLibraries& provided);

// Sets the members of `facts` that describe ELF files, except device code.
void gather_elf_facts(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                      const RequiredLibraries& required, Facts& facts);

// The Requires-Dist lines for torch.
[[nodiscard]] std::vector<std::string> torch_requirements(const std::vector<std::string>& requires_dist);

}  // namespace wheelyard::inspect
