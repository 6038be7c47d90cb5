// entry_points.txt (entry points specification): the names and objects that installers turn into programs.
#pragma once

#include <string_view>

#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Sections of `name = module:attribute [extras]`; a name in console_scripts or gui_scripts becomes a file
// name, so it must be one.
void check_entry_points(std::string_view member, std::string_view text, Findings& findings);

}  // namespace wheelyard::inspect
