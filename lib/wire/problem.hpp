// Problem details (RFC 9457) with a stable code: the body of every refusal.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::wire {

// {"type":"about:blank","title":…,"status":409,"detail":…,"code":"upload.name_taken","value":…,"advice":…}
struct Problem {
    int status = 500;
    std::string code;    // stable, dotted
    std::string title;   // short, ASCII, one line: also the reason phrase (twine prints it)
    std::string detail;  // the whole sentence
    std::string value;   // the offending value
    std::string advice;  // what to do
};

// What a request comes to: its answer, or the refusal to send.
template <typename T>
using Answered = tl::expected<T, Problem>;

inline constexpr std::string_view problem_content_type = "application/problem+json";

// `text` fit for Problem::title: other than printable ASCII becomes '?', it ends in "..." at 120 characters,
// and the full stop of a sentence goes.
[[nodiscard]] std::string one_line_title(std::string_view text);

// With `title` made fit.
[[nodiscard]] Problem make_problem(int status, std::string code, std::string_view title, std::string detail,
                                   std::string value = {}, std::string advice = {});
[[nodiscard]] tl::unexpected<Problem> refuse(int status, std::string code, std::string_view title,
                                             std::string detail, std::string value = {},
                                             std::string advice = {});

[[nodiscard]] std::string render_problem(const Problem& problem);
// Unknown members are ignored, absent ones are empty (status 0: the HTTP status stands).
[[nodiscard]] base::Result<Problem> parse_problem(std::string_view body);

}  // namespace wheelyard::wire
