// `wheelyard-governor simulate PROFILE …`.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

int run_simulate(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
