// INI files with the rules of Python's strict configparser.RawConfigParser (no duplicate sections or
// options), which pip uses for its configuration:
// https://docs.python.org/3/library/configparser.html#supported-ini-file-structure
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::simple {

// section → option (lower case) → value. Continuation lines are joined by '\n'. Every section includes the
// options of [DEFAULT].
using Ini = std::map<std::string, std::map<std::string, std::string>>;

// Error "ini.syntax" includes `place` and the line number.
[[nodiscard]] base::Result<Ini> parse_ini(std::string_view text, std::string_view place);

}  // namespace wheelyard::simple
