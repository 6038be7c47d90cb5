// RFC 9457 problem documents.
#include "lib/wire/problem.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/base/text/utf8.hpp"
#include "lib/io/record.hpp"
#include "lib/wire/documents.hpp"

namespace wheelyard::wire {

namespace {

constexpr std::size_t max_title = 120;
constexpr std::size_t max_body_bytes = 1u << 20;

// The code says what is wrong, so there is no address of a type.
struct BlankType : io::OnlyWritten {
    static io::Json to(const Problem&) { return "about:blank"; }
    static std::string type() { return "text"; }
};
constexpr auto problem_record = io::record<Problem>({
    io::field_of<Problem, BlankType>("type", "`about:blank`"),
    io::field<&Problem::title>("title", "short, ASCII, one line"),
    io::field<&Problem::status>("status", "of HTTP"),
    io::field<&Problem::detail>("detail", "the complete sentence", io::Need::optional, io::Written::if_given),
    io::field<&Problem::code>("code", "stable, dotted", io::Need::optional, io::Written::if_given),
    io::field<&Problem::value>("value", "the offending value", io::Need::optional, io::Written::if_given),
    io::field<&Problem::advice>("advice", "what to do", io::Need::optional, io::Written::if_given),
});

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

tl::unexpected<base::Error> fail(FailedRefusal row, std::string sentence, std::string value,
                                 std::string advice, base::Recovery recovery) {
    return base::fail_as(row.kind(), recovery,
                         {std::string(row.code()), std::move(sentence), std::move(value), std::move(advice)});
}

int status_of(base::ErrorKind kind) {
    const auto* const row = std::find_if(std::begin(refused_kinds), std::end(refused_kinds),
                                         [kind](const RefusedKind& known) { return known.kind == kind; });
    return row == std::end(refused_kinds) ? 0 : row->status;
}

io::Json problem_to_json(const Problem& problem) {
    return problem_record.write(problem);
}

io::Document problem_document() {
    return {.name = "problem", .tables = {problem_record.members}};
}

std::string render_problem(const Problem& problem) {
    return problem_to_json(problem).render();
}

base::Result<Problem> parse_problem(std::string_view body) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(body, {.bytes = max_body_bytes, .depth = 16}));
    if (document.as_object() == nullptr)
        return base::fail("problem.not_an_object", "A problem document must be a JSON object");
    Problem problem;
    problem.status = 0;
    WHEELYARD_TRY(problem_record.read(document, problem));
    if (problem.status != 0 && (problem.status < 100 || problem.status > 599))
        return base::fail("problem.status", "The status of a problem document must be an HTTP status",
                          std::to_string(problem.status));
    for (std::string* text : {&problem.title, &problem.detail, &problem.value, &problem.advice})
        *text = base::printable_line(*text);
    return problem;
}

bool is_refusal(int status, std::string_view code) {
    return std::any_of(std::begin(refused::rows), std::end(refused::rows),
                       [&](const RefusalRow& row) { return row.status == status && row.code == code; });
}

std::string render_refusals(Refused one) {
    std::string text = "| status | code | when |\n|---|---|---|\n";
    for (const RefusalRow& row : refused::rows) {
        if (!has(row.refused, one)) continue;
        text += "| " + std::to_string(row.status) + " | `" + std::string(row.code) + "` | " +
                std::string(row.when) + " |\n";
    }
    return text;
}

}  // namespace wheelyard::wire
