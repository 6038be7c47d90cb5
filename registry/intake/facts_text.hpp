// Renders a wheel's facts as the lines of `check --facts`.
#pragma once

#include <string>

#include "lib/inspect/truth/facts.hpp"

namespace wheelyard::registry {

[[nodiscard]] std::string render_facts_text(const inspect::Facts& facts);

}  // namespace wheelyard::registry
