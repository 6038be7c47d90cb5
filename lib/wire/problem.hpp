// Problem details (RFC 9457) with a stable code: the body of every error response.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/refusals.hpp"

namespace wheelyard::wire {

// {"type":"about:blank","title":…,"status":409,"detail":…,"code":"upload.name_taken","value":…,"advice":…}
struct Problem {
    int status = 500;
    std::string code;    // stable, dotted
    std::string title;   // short, ASCII, one line; also the reason phrase, which twine prints
    std::string detail;  // the complete sentence
    std::string value;   // the offending value
    std::string advice;  // what to do
};

// The result of handling a request: its answer or the error response.
template <typename T>
using Answered = tl::expected<T, Problem>;

inline constexpr std::string_view problem_content_type = "application/problem+json";

// Converts `text` to a Problem::title: replaces everything except printable ASCII with '?', truncates at 120
// characters with "...", removes a final full stop.
[[nodiscard]] std::string one_line_title(std::string_view text);

// With status and code of the row, and `title` made fit.
[[nodiscard]] Problem make_problem(Refusal row, std::string_view title, std::string detail,
                                   std::string value = {}, std::string advice = {});
[[nodiscard]] tl::unexpected<Problem> refuse(Refusal row, std::string_view title, std::string detail,
                                             std::string value = {}, std::string advice = {});

// The kinds of errors that are refusals.
struct RefusedKind {
    base::ErrorKind kind;
    int status;
};
inline constexpr RefusedKind refused_kinds[] = {
    {base::ErrorKind::invalid, 400},  {base::ErrorKind::refused, 403},   {base::ErrorKind::missing, 404},
    {base::ErrorKind::conflict, 409}, {base::ErrorKind::too_large, 413}, {base::ErrorKind::exhausted, 429},
};

// A refusal that an error can be. Of another status it does not compile: the error would be answered with
// 500.
class FailedRefusal : public Refusal {
  public:
    consteval FailedRefusal(const char* code)  // NOLINT(google-explicit-constructor)
        : FailedRefusal(Refusal(code)) {}
    consteval FailedRefusal(int status, std::string_view code) : FailedRefusal(Refusal(status, code)) {}
    [[nodiscard]] constexpr base::ErrorKind kind() const { return kind_; }

  private:
    explicit consteval FailedRefusal(const Refusal& row) : Refusal(row) {
        for (const RefusedKind& known : refused_kinds)
            if (known.status == row.status()) kind_ = known.kind;
        if (kind_ == base::ErrorKind::other) refused::no_kind_of_error_has_this_status();
    }
    base::ErrorKind kind_ = base::ErrorKind::other;
};
// The same as an error, whose kind is that of the row's status: for rooms that commands use, too.
[[nodiscard]] tl::unexpected<base::Error> fail(FailedRefusal row, std::string sentence,
                                               std::string value = {}, std::string advice = {},
                                               base::Recovery recovery = base::Recovery::never);
// The status of a refusal that an error of this kind is; 0: it is none.
[[nodiscard]] int status_of(base::ErrorKind kind);

[[nodiscard]] io::Json problem_to_json(const Problem& problem);
[[nodiscard]] std::string render_problem(const Problem& problem);
// Ignores unknown members; absent ones are empty (status 0: use the HTTP status).
[[nodiscard]] base::Result<Problem> parse_problem(std::string_view body);

}  // namespace wheelyard::wire
