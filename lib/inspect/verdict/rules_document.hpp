// Renders the rule table: docs/reference/rules.md and the output of `check --explain`.
#pragma once

#include <string>

#include "lib/inspect/verdict/verdict.hpp"

namespace wheelyard::inspect {

[[nodiscard]] std::string render_rules_markdown();  // the exact content of docs/reference/rules.md
[[nodiscard]] std::string render_rules_text();      // one line per rule
[[nodiscard]] std::string render_rule_text(const Rule& rule);

}  // namespace wheelyard::inspect
