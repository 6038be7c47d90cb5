// Rendered text compared with the file that has it: a golden file, or a generated part of docs/. With
// WHEELYARD_UPDATE_GOLDEN=1 the tests write the files; review the diff afterwards.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::test_support {

// Each returns the empty text if the file has `actual`; otherwise the first difference, for the test's
// message.

// tests/golden/`name`.
[[nodiscard]] std::string golden_difference(std::string_view name, std::string_view actual);
// tests/golden/`name`.diff, which has how `actual` differs from the golden file `base`, whose text is
// `base_text`: a unified diff without context, its parts headed by the script's phase or
// the file. `tests/sites/golden.py
// NAME` prints it whole.
[[nodiscard]] std::string golden_changes(std::string_view name, std::string_view base,
                                         std::string_view base_text, std::string_view actual);
// A page of docs/ that is generated as a whole: "reference/rules.md".
[[nodiscard]] std::string page_difference(std::string_view page, std::string_view actual);
// A part of a page of docs/, between two marks:
//     <!-- ends of jobs: WHEELYARD_UPDATE_GOLDEN=1 builder_tests writes them -->
//     <!-- end of ends of jobs -->
[[nodiscard]] std::string part_difference(std::string_view page, std::string_view part,
                                          std::string_view actual);

// The table of a configuration's keys in a page of docs/, between the marks of `part`. `keys`: its lines with
// the cells of key, type and default. The last cell, what a key means, is written by hand; a line without one
// is a difference.
[[nodiscard]] std::string keys_difference(std::string_view page, std::string_view part,
                                          std::string_view keys);

}  // namespace wheelyard::test_support
