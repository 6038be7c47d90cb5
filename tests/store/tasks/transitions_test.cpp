#include "lib/store/tasks/transitions.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;
using tasks::TaskEvent;
using wire::TaskState;

namespace {

struct Row {
    TaskState from;
    TaskEvent event;
    std::int64_t attempts;
    std::string to;  // a state, or a code
};

}  // namespace

TEST_CASE("a task's life is this table") {
    constexpr auto awaits = TaskState::awaits_approval;
    constexpr auto queued = TaskState::queued;
    constexpr auto claimed = TaskState::claimed;
    const Row rows[] = {
        {awaits, TaskEvent::approve, 0, "queued"},
        {awaits, TaskEvent::reject, 0, "cancelled"},
        {awaits, TaskEvent::cancel, 0, "cancelled"},
        {awaits, TaskEvent::claim, 1, "task.not_queued"},
        {awaits, TaskEvent::end_done, 0, "task.lost"},
        {queued, TaskEvent::approve, 0, "task.awaits_nothing"},
        {queued, TaskEvent::reject, 0, "task.awaits_nothing"},
        {claimed, TaskEvent::approve, 1, "task.awaits_nothing"},
        {queued, TaskEvent::claim, 1, "claimed"},
        {queued, TaskEvent::end_done, 0, "task.lost"},
        {queued, TaskEvent::end_failed, 0, "task.lost"},
        {queued, TaskEvent::late, 0, "task.lost"},
        {queued, TaskEvent::cancel, 0, "cancelled"},
        {claimed, TaskEvent::claim, 2, "task.not_queued"},
        {claimed, TaskEvent::end_done, 1, "done"},
        {claimed, TaskEvent::end_failed, 1, "failed"},
        {claimed, TaskEvent::late, 1, "queued"},
        {claimed, TaskEvent::late, 2, "queued"},
        {claimed, TaskEvent::late, 3, "failed"},
        {claimed, TaskEvent::late, 4, "failed"},
        {claimed, TaskEvent::cancel, 1, "cancelled"},
    };
    for (const Row& row : rows) {
        CAPTURE(wire::task_state_text(row.from));
        CAPTURE(static_cast<int>(row.event));
        const auto next = tasks::next_state(row.from, row.event, {row.attempts, 3});
        CHECK((next ? std::string(wire::task_state_text(*next)) : next.error().code) == row.to);
        if (!next) CHECK(next.error().kind == base::ErrorKind::conflict);
    }
}

TEST_CASE("nothing happens to a task that is over") {
    for (const TaskState state : {TaskState::done, TaskState::failed, TaskState::cancelled}) {
        CHECK(wire::is_over(state));
        for (const TaskEvent event :
             {TaskEvent::approve, TaskEvent::reject, TaskEvent::claim, TaskEvent::end_done,
              TaskEvent::end_failed, TaskEvent::late, TaskEvent::cancel}) {
            const auto next = tasks::next_state(state, event, {1, 3});
            REQUIRE_FALSE(next.has_value());
            CHECK(next.error().code == "task.ended");
            CHECK(next.error().kind == base::ErrorKind::conflict);
        }
    }
}
