// Attempts counted and told.
#include "builder/plan_history.hpp"

namespace wheelyard::builder {

TaskHistory history_of(const std::string& task, const std::vector<Attempt>& attempts) {
    TaskHistory history;
    for (const auto& attempt : attempts) {
        if (attempt.task != task || attempt.superseded) continue;
        if (history.last == nullptr || attempt.number >= history.last->number) history.last = &attempt;
        if (attempt.state == State::failed) ++history.failures;
    }
    return history;
}

bool judge_active(Cell& cell, const TaskHistory& history) {
    if (history.last == nullptr) return false;
    const Attempt& last = *history.last;
    cell.attempt = last.id;
    if (is_over(last.state)) return false;
    cell.state = CellState::active;
    cell.reason = state_text(last.state);
    if (!last.waiting.reason.empty()) cell.reason += ", waiting: " + last.waiting.reason;
    return true;
}

void judge_failures(Cell& cell, const TaskHistory& history, int most_attempts, const std::string& why) {
    cell.state = CellState::wanted;
    cell.reason = why;
    if (history.last == nullptr || !history.last->failure) return;
    const Failure& failure = *history.last->failure;
    const std::string count =
        std::to_string(history.failures) + " of " + std::to_string(most_attempts) + " attempts failed";
    const std::string last_words = failure.phase + ": " + failure.error.sentence +
                                   (failure.first_error.empty() ? "" : " [" + failure.first_error + "]");
    if (!failure.try_again || history.failures >= most_attempts) cell.state = CellState::given_up;
    cell.reason = (failure.try_again ? count + "; the last in " : "failed for good in ") + last_words;
}

}  // namespace wheelyard::builder
