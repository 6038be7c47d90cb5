// Environment variables of a process: name → value.
#pragma once

#include <map>
#include <string>

namespace wheelyard::builder {

using EnvironmentMap = std::map<std::string, std::string>;

}  // namespace wheelyard::builder
