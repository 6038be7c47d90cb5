// Gathers the facts of a wheel from those of its ELF files.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/manylinux.hpp"
#include "lib/inspect/truth/own_libraries.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {

// The libraries that the projects of Requires-Dist bring: of an extension module that needs one of them,
// neither the wheel nor the tag's policy must provide it. The index knows which wheels have which libraries;
// where nothing is known of a project, as offline, a table of families helps (RAPIDS, Intel's runtimes).

// Says whether only those who ask for an extra get the requirement: `torch==1.4.0; extra == "dev"` says
// nothing of the wheel.
[[nodiscard]] bool is_of_an_extra(const wheel::Requirement& requirement);

using LibraryNames = std::set<std::string>;
// The libraries that the wheels of `project` (normalised) have, as the index offers them. Empty: nothing is
// known.
using LibrariesOf = std::function<LibraryNames(std::string_view project)>;

inline constexpr std::size_t max_required_projects = 200;  // per wheel; each costs a read of the index

class RequiredLibraries {
  public:
    // Requirements of an extra do not count: the wheel comes without them. Nor do projects beyond
    // max_required_projects.
    RequiredLibraries(const std::vector<std::string>& requires_dist, LibrariesOf libraries_of);
    // The project of Requires-Dist that brings the library; empty: none.
    [[nodiscard]] std::string project_of(std::string_view path) const;

  private:
    std::vector<std::string> projects_;  // each once
    LibrariesOf libraries_of_;
    std::vector<std::string> family_projects_;  // of each family the first project that is required, or empty
    // Each project is asked for once, when a library needs it: an answer costs a read of the index.
    mutable std::size_t asked_ = 0;
    mutable std::map<std::string, std::string, std::less<>> known_;  // the first project with each library
};

// The libraries that other wheels can load from this one: SONAMEs, or names of files without one, of shared
// objects named lib*.so that are no modules of Python. Sorted, at most max_provided_libraries.
[[nodiscard]] std::vector<std::string> libraries_for_others(const std::vector<ElfMember>& elves);

inline constexpr std::size_t max_library_hashes = 256;  // each copy of a row has them; torch has 30 libraries

// The libraries that the wheel itself provides: the names and sonames of its ELF files. Never glibc's own
// libraries: the process has loaded the system's before it loads the wheel.
class ProvidedLibraries {
  public:
    explicit ProvidedLibraries(const std::vector<ElfMember>& elves);
    [[nodiscard]] bool has(std::string_view library) const;
    // Says whether the wheel's `library` provides symbols of `version`. Always false for glibc versions: only
    // the system's glibc provides them, whichever library is named, because the dynamic linker searches all
    // loaded libraries.
    [[nodiscard]] bool has(std::string_view library, const SymbolVersion& version) const;
    // Says whether the dynamic linker finds the wheel's `library` for this file.
    [[nodiscard]] bool finds(const ElfMember& member, const std::string& library) const {
        return has(library) && !unfound_.contains({member.name, library});
    }

  private:
    std::set<std::string, std::less<>> names_;
    std::set<LibraryNeed> unfound_;
};

// Removes from the Python names outside of the Stable ABI those that a library defines, which is not
// Python's: one of the wheel, or one for the Stable ABI that the file needs of another wheel. PySide's
// PySide_init, Shiboken's PyMethod_New.
void leave_out_other_python_names(std::vector<ElfMember>& elves, const ProvidedLibraries& provided);

// Sets the members of `facts` that describe ELF files, except device code.
void gather_elf_facts(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                      const RequiredLibraries& required, Facts& facts);

// The Requires-Dist lines for torch.
[[nodiscard]] std::vector<std::string> torch_requirements(const std::vector<std::string>& requires_dist);

}  // namespace wheelyard::inspect
