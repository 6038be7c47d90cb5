// `avail_wheels login` and `avail_wheels logout`: a token by the user's account at the site's provider.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "indexer/avail_wheels/run.hpp"

namespace wheelyard::avail_wheels {

// `arguments` begin with the command's word. Exit status as that of run().
[[nodiscard]] int run_login(const std::vector<std::string>& arguments, const World& world, std::ostream& out,
                            std::ostream& err);

}  // namespace wheelyard::avail_wheels
