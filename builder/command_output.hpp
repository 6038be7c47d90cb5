// Output and exit statuses of every subcommand.
#pragma once

#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr int exit_well = 0;    // success
inline constexpr int exit_failed = 1;  // something failed or is missing
inline constexpr int exit_usage = 2;   // wrong usage or configuration

void print(const std::string& text);  // to standard output
void tell(const std::string& text);   // the same for prose: on a terminal its lines are broken between words
// Prints the error to standard error; returns `status`.
int complain(const base::Error& error, int status);

}  // namespace wheelyard::builder
