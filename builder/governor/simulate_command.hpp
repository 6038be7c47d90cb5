// `wheelyard-governor simulate PROFILE …`: prints the estimate; returns the exit status.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

int run_simulate(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
