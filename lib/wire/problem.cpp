// RFC 9457 problem documents.
#include "lib/wire/problem.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace wheelyard::wire {
namespace {

constexpr std::size_t max_title = 120;
constexpr std::size_t max_body_bytes = 1u << 20;

struct KindRow {
    base::ErrorKind kind;
    int status;
};
constexpr std::array kinds{
    KindRow{base::ErrorKind::invalid, 400},   KindRow{base::ErrorKind::refused, 403},
    KindRow{base::ErrorKind::missing, 404},   KindRow{base::ErrorKind::conflict, 409},
    KindRow{base::ErrorKind::too_large, 413}, KindRow{base::ErrorKind::exhausted, 429},
};

void set_if_present(io::Json& document, std::string name, const std::string& text) {
    if (!text.empty()) document.set(std::move(name), text);
}

}  // namespace

std::string one_line_title(std::string_view text) {
    std::string title;
    if (text.ends_with('.')) text.remove_suffix(1);
    for (const char c : text) {
        if (title.size() == max_title) {
            title.replace(max_title - 3, 3, "...");
            break;
        }
        title += c >= ' ' && c <= '~' ? c : '?';
    }
    return title;
}

Problem make_problem(Refusal row, std::string_view title, std::string detail, std::string value,
                     std::string advice) {
    return {row.status(),      std::string(row.code()), one_line_title(title),
            std::move(detail), std::move(value),        std::move(advice)};
}

tl::unexpected<Problem> refuse(Refusal row, std::string_view title, std::string detail, std::string value,
                               std::string advice) {
    return tl::unexpected(make_problem(row, title, std::move(detail), std::move(value), std::move(advice)));
}

tl::unexpected<base::Error> fail(Refusal row, std::string sentence, std::string value, std::string advice,
                                 base::Recovery recovery) {
    const auto* const kind = std::find_if(kinds.begin(), kinds.end(),
                                          [&](const KindRow& known) { return known.status == row.status(); });
    return base::fail_as(kind == kinds.end() ? base::ErrorKind::other : kind->kind, recovery,
                         {std::string(row.code()), std::move(sentence), std::move(value), std::move(advice)});
}

int status_of(base::ErrorKind kind) {
    const auto* const row =
        std::find_if(kinds.begin(), kinds.end(), [kind](const KindRow& known) { return known.kind == kind; });
    return row == kinds.end() ? 0 : row->status;
}

std::string render_problem(const Problem& problem) {
    auto document =
        io::Json::object({{"type", "about:blank"}, {"title", problem.title}, {"status", problem.status}});
    set_if_present(document, "detail", problem.detail);
    set_if_present(document, "code", problem.code);
    set_if_present(document, "value", problem.value);
    set_if_present(document, "advice", problem.advice);
    return document.render();
}

base::Result<Problem> parse_problem(std::string_view body) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(body, {.bytes = max_body_bytes, .depth = 16}));
    if (document.as_object() == nullptr)
        return base::fail("problem.not_an_object", "A problem document must be a JSON object");
    const std::int64_t status = document.int_or("status", 0);
    if (status != 0 && (status < 100 || status > 599))
        return base::fail("problem.status", "The status of a problem document must be an HTTP status",
                          std::to_string(status));
    return Problem{.status = static_cast<int>(status),
                   .code = document.string_or("code", ""),
                   .title = document.string_or("title", ""),
                   .detail = document.string_or("detail", ""),
                   .value = document.string_or("value", ""),
                   .advice = document.string_or("advice", "")};
}

}  // namespace wheelyard::wire
