#include "builder/remote/refusal.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::builder {
namespace {

struct Row {
    std::string_view code;
    Refusal refusal;
};
constexpr std::array<Row, 18> rows = {{
    {"upload.quarantined", Refusal::quarantined},
    {"upload.wrong_offset", Refusal::wrong_offset},
    {"upload.in_progress", Refusal::wrong_offset},
    {"upload.not_resumable", Refusal::no_parts},
    {"upload.too_many", Refusal::no_parts},
    {"index.unknown", Refusal::no_index},
    {"auth.token_refused", Refusal::bad_token},
    {"auth.login_ended", Refusal::bad_token},
    {"task.lost", Refusal::task_lost},
    {"task.cancelled", Refusal::no_task},
    {"task.ended", Refusal::no_task},
    {"task.no_such_task", Refusal::no_task},
    {"build.unknown", Refusal::no_build},
    {"build.log_gap", Refusal::log_gap},
    {"build.log_full", Refusal::log_full},
    {"request.not_found", Refusal::no_address},
    {"request.method", Refusal::no_address},
    {"request.operation", Refusal::no_address},
}};
constexpr std::string_view of_credentials = "auth";  // the group of their codes: "auth.scope_refused"

}  // namespace

Refusal refusal_of(std::string_view code) {
    const auto* row =
        std::find_if(rows.begin(), rows.end(), [&](const Row& one) { return one.code == code; });
    if (row != rows.end()) return row->refusal;
    return code.substr(0, code.find('.')) == of_credentials ? Refusal::credentials : Refusal::other;
}

std::string message_of(const io::HttpAnswer& answer, const base::Result<wire::Problem>& problem) {
    if (problem && !problem->detail.empty()) return problem->detail;
    if (problem && !problem->title.empty()) return problem->title;
    return answer.reason.empty() ? "no reason given" : answer.reason;
}

}  // namespace wheelyard::builder
