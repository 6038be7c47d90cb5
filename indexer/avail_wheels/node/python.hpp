// A Python version that wheels are listed for, and the one that this shell uses.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::avail_wheels {

struct Python {
    int minor = 11;                          // of Python 3
    bool free_threaded = false;              // 3.13t
    std::string full;                        // "3.11.4"; empty: unknown
    [[nodiscard]] std::string text() const;  // "3.11", "3.13t"
    bool operator==(const Python&) const = default;
};

// "3.11", "3.11.4", "cp311", "311", "3.13t". Error "python.invalid".
[[nodiscard]] base::Result<Python> parse_python(std::string_view text);

// The Python of the active virtual environment (VIRTUAL_ENV: pyvenv.cfg or lib/python3.*), otherwise of the
// loaded module (EBVERSIONPYTHON). nullopt: neither, so wheels for every Python are listed.
[[nodiscard]] std::optional<Python> python_of_shell(const std::map<std::string, std::string>& environment);

}  // namespace wheelyard::avail_wheels
