// The modules of Python's standard library.
#pragma once

#include <string_view>

namespace wheelyard::inspect {

// Whether some Python 3 has it: "os", "distutils". `top` has no dots. gone_names has those that only some have.
[[nodiscard]] bool is_standard_module(std::string_view top);

}  // namespace wheelyard::inspect
