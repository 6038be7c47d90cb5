// The table of the fields of "wheelyard.attempt/1" in docs/reference/journal.md.
#pragma once

#include <string>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

// A Markdown table with one row for each field.
[[nodiscard]] std::string render_attempt_fields();

}  // namespace wheelyard::builder
