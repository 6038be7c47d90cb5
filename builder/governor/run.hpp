// `wheelyard-governor [options] -- CMD`: starts the broker, sets up the launchers, runs CMD and exits as CMD
// does.
//
// Three processes: this one waits for CMD and stays small; the broker is its child, and CMD continues if the
// broker dies; CMD is the build, unchanged except for its environment.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

// Ends this process with CMD's exit code or signal.
[[noreturn]] void run_build(const std::vector<std::string>& arguments);

// The command `wheelyard-governor bound`.
[[nodiscard]] int run_bound(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
