// Runs in place of a compiler: asks the broker for permission, waits, runs the compiler, reports the result
// and exits as the compiler did.
//
// The output of a try is buffered in memory and written when the result is final, so a try that is killed and
// retried leaves no output. stdout and stderr share one buffer if they are one file, which keeps their order.
// stdin passes through. If a compiler cache has the result, the broker is not involved (compiler_cache.hpp).
// If the broker is gone, the compile runs anyway, in one of a few slots held by flock(2).
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

// `wheelyard-governor launch -- COMPILER ARGUMENTS`. Ends the process as the compiler did.
[[noreturn]] void run_launcher(std::vector<std::string> command);

// Entry point when called through a link in the shim folder by the name of a compiler, a cache or a build
// tool: runs the real one, which is the next of that name on PATH.
[[noreturn]] void run_shim(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
