// `wheelyard-governor [options] -- CMD`: starts the broker beside the build, puts launchers before its
// compilers, runs CMD and ends as it ended.
//
// Three processes: we watch CMD and stay tiny; the broker is our child and may die without CMD noticing; CMD
// is the build, unchanged but for its environment.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

int run_build(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
