#include "lib/store/tasks/transitions.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "lib/wire/problem.hpp"

namespace wheelyard::tasks {
namespace {

using wire::TaskState;

struct Row {
    TaskEvent event;
    TaskState from;
    TaskState to;
};
constexpr std::array rows{
    Row{TaskEvent::claim, TaskState::queued, TaskState::claimed},
    Row{TaskEvent::end_done, TaskState::claimed, TaskState::done},
    Row{TaskEvent::end_failed, TaskState::claimed, TaskState::failed},
    Row{TaskEvent::late, TaskState::claimed, TaskState::queued},
    Row{TaskEvent::approve, TaskState::awaits_approval, TaskState::queued},
    Row{TaskEvent::reject, TaskState::awaits_approval, TaskState::cancelled},
    Row{TaskEvent::cancel, TaskState::awaits_approval, TaskState::cancelled},
    Row{TaskEvent::cancel, TaskState::queued, TaskState::cancelled},
    Row{TaskEvent::cancel, TaskState::claimed, TaskState::cancelled},
};

}  // namespace

base::Result<TaskState> next_state(TaskState state, TaskEvent event, const Attempts& attempts) {
    for (const Row& row : rows) {
        if (row.event != event || row.from != state) continue;
        const bool is_last = event == TaskEvent::late && attempts.made >= attempts.most;
        return is_last ? TaskState::failed : row.to;
    }
    const std::string word(wire::task_state_text(state));
    if (wire::is_over(state))
        return wire::fail("task.ended", "The task is over", word, "add it again if it is still needed");
    if (event == TaskEvent::approve || event == TaskEvent::reject)
        return wire::fail("task.awaits_nothing", "The task awaits no approval", word, "cancel it to stop it");
    if (event == TaskEvent::claim) return wire::fail("task.not_queued", "Another site has the task", word);
    return fail_lost(word);
}

tl::unexpected<base::Error> fail_lost(std::string value) {
    return wire::fail("task.lost", "This site does not have the task", std::move(value),
                      "ask for it again; another site may have it");
}

}  // namespace wheelyard::tasks
