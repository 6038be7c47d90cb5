// The end of what a program said, for the sentence of an error: its log, or what it was heard to say, has the
// rest.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::builder {

// The last three lines that say anything, each as shorten_line: "19999 / 20000 / it is broken".
[[nodiscard]] std::string last_words(std::string_view said);

}  // namespace wheelyard::builder
