// The table of the fields of "wheelyard.attempt/1" in docs/reference/journal.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

[[nodiscard]] std::optional<WaitFor> parse_wait(std::string_view text);

// A Markdown table with one row for each field.
[[nodiscard]] std::string render_attempt_fields();

}  // namespace wheelyard::builder
