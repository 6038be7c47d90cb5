// What a line of a log says of itself: whether it is an error, and which line of which file it names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wheelyard::builder {

// What a line must hold to count as an error, in lower case.
[[nodiscard]] std::span<const std::string_view> error_signs();
// Whether a line (in lower case) that holds a sign, or a rule's words, is no cause all the same.
[[nodiscard]] bool is_harmless(std::string_view lower);
// As is_harmless, for a rule that counts in warnings, too.
[[nodiscard]] bool is_only_a_check(std::string_view lower);

struct SourceLine {
    std::string file;
    std::uint64_t line = 0;
};
// "a.cpp:12:5: error: …", "a.cu(12): error: …", "CMake Error at a/CMakeLists.txt:12 (message):",
// "File \"a.py\", line 12, in f"; an empty file: it names none.
[[nodiscard]] SourceLine source_line_of(std::string_view line);

// For people: trimmed, of printable letters, at most max_error_line_bytes of them.
[[nodiscard]] std::string shorten_line(std::string_view line);
// Without colours, and of a line that was drawn over (CR) only the last state.
[[nodiscard]] std::string plain_line(std::string_view line);

}  // namespace wheelyard::builder
