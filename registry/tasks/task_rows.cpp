#include "registry/tasks/task_rows.hpp"

#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::tasks {
namespace {

std::string select(std::string_view outcome, std::string_view which) {
    return "SELECT task.id, task.index_name, task.package, task.version, task.python, task.accelerator, "
           "task.state, task.reason, task.asked_by, task.asked, task.changed, task.attempts, "
           "coalesce(lease.agent, ''), coalesce(lease.until, 0), coalesce(lease.log_bytes, 0), "
           "coalesce(lease.state, ''), " +
           std::string(outcome) +
           ", task.source_index, task.source_filename, task.source_sha256, task.approved_by" +
           " FROM task LEFT JOIN lease ON lease.task = task.id AND lease.number = task.attempts " +
           std::string(which);
}

}  // namespace

std::string select_whole(std::string_view which) {
    return select("task.outcome_json", which);
}

std::string select_rows(std::string_view which) {
    return select("''", which);
}

wire::Task task_of(const catalog::Statement& row) {
    wire::Task task;
    task.id = row.text(0);
    task.wish = {row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
    if (!row.text(17).empty()) task.wish.source = {row.text(17), row.text(18), row.text(19)};
    task.approved_by = row.text(20);
    // The schema allows no other word; a task with one is never claimed.
    task.state = wire::parse_task_state(row.text(6)).value_or(wire::TaskState::failed);
    task.reason = row.text(7);
    task.asked_by = row.text(8);
    task.asked = row.integer(9);
    task.changed = row.integer(10);
    task.attempts = row.integer(11);
    task.agent = row.text(12);
    task.lease_until = row.text(15) == "held" ? row.integer(13) : 0;
    task.log_bytes = row.integer(14);
    if (auto outcome = io::parse_json(row.text(16))) task.outcome = *std::move(outcome);
    return task;
}

SqlSet::SqlSet(const std::optional<std::vector<std::string>>& names)
    : has_all(names ? 0 : 1), json(io::Json::array_of(names.value_or(std::vector<std::string>())).render()) {}

}  // namespace wheelyard::tasks
