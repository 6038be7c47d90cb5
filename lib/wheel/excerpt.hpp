// The excerpt of an untrusted text that an Error shows: short, and without control characters that could
// forge log lines.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::wheel {

// At most max_excerpt_bytes of `text`, cut between UTF-8 characters and marked with "…"; control characters
// become '?'.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace wheelyard::wheel
