// Which member names may be in a wheel: names that every reader, and every file system that wheels are
// installed on, takes for the same relative path.
#pragma once

#include <string_view>
#include <vector>

#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

// One name by itself. `utf8_flag`: general purpose bit 11. False where it is too long for anything further to
// be done with it: the checks of all names together look at every folder of every name.
[[nodiscard]] bool check_member_name(std::string_view name, bool utf8_flag, Findings& findings);
// All names together: duplicates, names that differ in case only, files that are also folders.
void check_names_together(const std::vector<Member>& members, Findings& findings);

}  // namespace wheelyard::inspect
