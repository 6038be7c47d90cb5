// Names that some file system takes for one: Windows and macOS ignore case, macOS also how letters with accents are spelled.
//
//     "README"  "readme"       one file
//     "\u00e9"  "e\u0301"      one file: é composed, and as a letter and its accent
//     "\u00e9"  "e"            two
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::inspect {

// The same for all names that may be one file, and for some others. Text that is not UTF-8 is folded in ASCII alone.
[[nodiscard]] std::string folded_name(std::string_view name);

// Whether two names with one folded_name are one file. Letters beyond Latin, Greek and Cyrillic have no case here, and of
// two names only one with an accent after its letter counts.
[[nodiscard]] bool may_be_one_file(std::string_view a, std::string_view b);

}  // namespace wheelyard::inspect
