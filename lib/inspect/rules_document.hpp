// The rule table as text: docs/reference/rules.md, and what `check --explain` prints.
#pragma once

#include <string>

#include "lib/inspect/verdict.hpp"

namespace wheelyard::inspect {

[[nodiscard]] std::string render_rules_markdown();  // docs/reference/rules.md, byte for byte
[[nodiscard]] std::string render_rules_text();      // one line a rule
[[nodiscard]] std::string render_rule_text(const Rule& rule);

}  // namespace wheelyard::inspect
