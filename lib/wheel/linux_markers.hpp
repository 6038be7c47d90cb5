// The environment in which markers are evaluated for a Linux machine with CPython.
#pragma once

#include <string>

#include "lib/wheel/marker.hpp"

namespace wheelyard::wheel {

// `python`: "3.12" (its first release) or "3.12.4"; `machine`: "x86_64". No extra, and a kernel of no known version.
[[nodiscard]] inline MarkerEnvironment linux_markers(const std::string& python, const std::string& machine) {
    const auto dot = python.find('.', python.find('.') + 1);
    const std::string full = dot == std::string::npos ? python + ".0" : python;
    return {{"python_version", python.substr(0, dot)},
            {"python_full_version", full},
            {"implementation_version", full},
            {"os_name", "posix"},
            {"sys_platform", "linux"},
            {"platform_system", "Linux"},
            {"platform_machine", machine},
            {"implementation_name", "cpython"},
            {"platform_python_implementation", "CPython"}};
}

}  // namespace wheelyard::wheel
