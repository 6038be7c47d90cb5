// Checks member names: every reader and every common file system must interpret a name as the same relative
// path.
#pragma once

#include <string_view>
#include <vector>

#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

// Checks one name. `utf8_flag`: general purpose bit 11. Returns false if the name is too long for
// check_names_together, whose cost grows with the folders in every name.
[[nodiscard]] bool check_member_name(std::string_view name, bool utf8_flag, Findings& findings);
// Checks all names: duplicates, names that differ only in case, files that are also folders.
void check_names_together(const std::vector<Member>& members, Findings& findings);

}  // namespace wheelyard::inspect
