// The libraries that the projects of Requires-Dist bring: of an extension module that needs one of them, neither the wheel
// nor the tag's policy must provide it. The index knows which wheels have which libraries; where nothing is known of a
// project, as offline, a table of families helps (RAPIDS, Intel's runtimes).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {

// Whether only those who ask for an extra get the requirement: `torch==1.4.0; extra == "dev"` says nothing of the wheel.
[[nodiscard]] bool is_of_an_extra(const wheel::Requirement& requirement);

// Whether a wheel of `project` (normalised), as the index offers it, has this library. Empty: nothing is known.
using HasLibrary = std::function<bool(std::string_view project, std::string_view library)>;

class RequiredLibraries {
  public:
    // Requirements of an extra do not count: the wheel comes without them.
    RequiredLibraries(const std::vector<std::string>& requires_dist, HasLibrary has_library);
    // The project of Requires-Dist that brings the library; empty: none.
    [[nodiscard]] std::string project_of(std::string_view library) const;

  private:
    [[nodiscard]] std::string find_project(std::string_view library) const;

    std::vector<std::string> projects_;
    HasLibrary has_library_;
    mutable std::map<std::string, std::string, std::less<>> found_;  // each library is looked up once
};

// The libraries that other wheels can load from this one: SONAMEs, or names of files without one, of shared objects named
// lib*.so that are no modules of Python. Sorted, at most max_provided_libraries.
[[nodiscard]] std::vector<std::string> libraries_for_others(const std::vector<ElfMember>& elves);

}  // namespace wheelyard::inspect
