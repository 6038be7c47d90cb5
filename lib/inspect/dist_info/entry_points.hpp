// entry_points.txt (entry points specification): names and objects that installers turn into scripts.
#pragma once

#include <string_view>

#include "lib/inspect/verdict/findings.hpp"

namespace wheelyard::inspect {

// Checks sections of `name = module:attribute [extras]`. A name in console_scripts or gui_scripts must be a
// valid file name because installers create a file with it.
void check_entry_points(std::string_view member, std::string_view text, Findings& findings);

}  // namespace wheelyard::inspect
