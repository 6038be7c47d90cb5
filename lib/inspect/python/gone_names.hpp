// The modules of Python's standard library, those that a version of Python removed, and pkg_resources.
#pragma once

#include <string_view>

namespace wheelyard::inspect {

// Says whether some Python 3 has it, on some system: "os", "winreg". `top` has no dots, and no row of
// gone_name.
[[nodiscard]] bool is_standard_module(std::string_view top);

struct GoneName {
    std::string_view name;  // "cgi"
    // The minor version of Python 3 that has it no more; 0: only some installations lack it.
    unsigned since = 0;
    std::string_view brought_by = {};  // a project that has it, too
};
// The row of a dotted name or of what it begins with: "distutils.version" has that of "distutils". nullptr:
// none.
[[nodiscard]] const GoneName* gone_name(std::string_view dotted);

}  // namespace wheelyard::inspect
