// The command `wheelyard-governor bound`.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::governor {

[[nodiscard]] int run_bound(const std::vector<std::string>& arguments);

}  // namespace wheelyard::governor
