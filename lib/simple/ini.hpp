// INI files as Python's configparser.RawConfigParser reads them (strict: no section or option twice), because
// pip's configuration files are read by it:
// https://docs.python.org/3/library/configparser.html#supported-ini-file-structure
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::simple {

// section → option (lower case) → value; lines of a continued value are joined by '\n'. [DEFAULT]'s options
// are in every section.
using Ini = std::map<std::string, std::map<std::string, std::string>>;

// Error "ini.syntax" names `place` and the line.
[[nodiscard]] base::Result<Ini> parse_ini(std::string_view text, std::string_view place);

}  // namespace wheelyard::simple
