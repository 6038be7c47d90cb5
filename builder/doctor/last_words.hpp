// The end of a program's output, for an error message; the log has the rest.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

// The last three non-empty lines, each shortened by shorten_line: "19999 / 20000 / it is broken".
[[nodiscard]] std::string last_words(std::string_view said);

}  // namespace wheelyard::builder
