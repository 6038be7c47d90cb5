// The modules of Python's standard library, and those that some Pythons lack: removed by a version, not there
// before one, or left to a package of their own by distributions.
#pragma once

#include <string_view>

namespace wheelyard::inspect {

// Says whether some Python 3 has it: "os", "distutils". `top` has no dots. gone_name has those that only some
// have.
[[nodiscard]] bool is_standard_module(std::string_view top);

inline constexpr unsigned only_windows = 1;  // as `since`: no Python of another system has it

struct GoneName {
    std::string_view name;  // "cgi"
    // The minor version of Python 3 that has it no more; 0: only some installations lack it.
    unsigned since = 0;
    std::string_view brought_by = {};  // a project that has it, too
    unsigned first = 0;                // the minor version that has it first; 0: all had it
};
// The row of a dotted name or of what it begins with: "distutils.version" has that of "distutils". nullptr:
// none.
[[nodiscard]] const GoneName* gone_name(std::string_view dotted);

}  // namespace wheelyard::inspect
