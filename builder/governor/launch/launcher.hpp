// What stands before a compiler: asks the broker for a slot, waits, runs the compiler, reports, exits as it
// did.
//
// The output of a try is kept aside (in memory, one file where stdout and stderr are one, so that their order
// stays) and shown when the result is final: of a try that was killed and run again nothing is seen. stdin
// passes through. A compiler cache is asked first, and what it has is taken from it without the broker
// (compiler_cache.hpp). When the broker is gone the compile runs all the same, in one of a few slots held by
// flock(2).
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

// `wheelyard-governor launch -- COMPILER ARGUMENTS`. Ends the process as the compiler ended.
[[noreturn]] void run_launcher(std::vector<std::string> command);

// Called by the name of a compiler, a cache or a build tool through a link in the shim folder: finds the real
// one further down PATH.
[[noreturn]] void run_shim(const std::string& name, const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
