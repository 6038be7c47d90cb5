// The fields of "wheelyard.attempt/1" as its page shows them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "builder/attempt/attempt.hpp"

namespace wheelyard::builder {

[[nodiscard]] std::optional<WaitFor> parse_wait(std::string_view text);

// Markdown, a row each.
[[nodiscard]] std::string render_attempt_fields();

}  // namespace wheelyard::builder
