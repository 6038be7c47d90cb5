// What every subcommand says and how it ends.
#pragma once

#include <string>

#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr int exit_well = 0;
inline constexpr int exit_failed = 1;  // something failed or is missing
inline constexpr int exit_usage = 2;   // or configuration

void print(const std::string& text);
// To standard error; returns `status`.
int complain(const base::Error& error, int status);

}  // namespace wheelyard::builder
