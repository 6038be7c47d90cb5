// The environment of processes, as the builder passes it around.
#pragma once

#include <map>
#include <string>

namespace wheelyard::builder {

using EnvironmentMap = std::map<std::string, std::string>;

}  // namespace wheelyard::builder
