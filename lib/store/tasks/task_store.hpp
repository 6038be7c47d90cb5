// Every change of the orders: one transaction each, durable when it returns (docs/reference/task.md).
//
// There is no timer thread: every query or change first frees what sites are late with, and the first change
// of an hour removes old tasks. The database, a restarted server and a concurrent command therefore always
// agree. Queries take no write lock unless a site is late.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/tasks/limits.hpp"
#include "lib/store/tasks/task_rows.hpp"
#include "lib/store/tasks/transitions.hpp"
#include "lib/wire/outcome.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::tasks {

struct TaskRules {
    std::int64_t lease_s = 3'600;   // a site has a task for so long since it asked last
    std::int64_t max_attempts = 3;  // so often a task is taken without an outcome before it fails
    std::int64_t kept_days = 90;    // an ended task is removed after this time
};

struct AddedTask {
    wire::Task task;
    bool already_there = false;  // the same task was queued or taken already
};

// Thread-safe: the rows are behind a mutex, held for one short transaction. Errors: "task.*" (a refusal), and
// those of the rows.
class TaskStore {
  public:
    // `clock` must outlive the store.
    TaskStore(std::unique_ptr<TaskRows> rows, TaskRules rules, const base::Clock& clock)
        : rows_(std::move(rows)), rules_(rules), clock_(clock) {}

    // `request` must have passed check_task_request(), and resolve_source() if it has a source. With one, the
    // task awaits an approval. Error "task.too_many".
    [[nodiscard]] base::Result<AddedTask> add(const wire::TaskRequest& request, const std::string& asked_by);
    // The same for one without a token, whose name begins with stranger_prefix: it awaits an approval, and is
    // refused after approval_days without one. A request for the same with a token approves it. Error
    // "task.too_many".
    [[nodiscard]] base::Result<AddedTask> ask(const wire::TaskRequest& request, const std::string& stranger);
    // The same for a request with a source, unless it was asked for before, however that ended.
    [[nodiscard]] base::Status propose(const wire::TaskRequest& request, const std::string& asked_by);
    // "task.no_such_task".
    [[nodiscard]] base::Result<wire::Task> find(std::string_view id);
    // In the order in which they were asked for, after the task `after` (empty: from the first), without
    // their outcomes; at most `limit`. "task.no_such_task": of `after`, which may have been removed.
    [[nodiscard]] base::Result<std::vector<wire::Task>> list(const TaskFilter& filter,
                                                             std::string_view after = {},
                                                             std::size_t limit = max_tasks_returned);
    // Those of an index that ended within shown_after_end_days, the newest first; at most max_tasks_returned.
    [[nodiscard]] base::Result<std::vector<wire::Task>> lately_ended(const std::string& index);
    // The place of a queued task in the queue of its index, from 1.
    [[nodiscard]] base::Result<std::int64_t> place(const wire::Task& task);
    // Its site no longer has it. Idempotent.
    [[nodiscard]] base::Result<wire::Task> cancel(std::string_view id, const std::string& by,
                                                  const std::string& reason);

    // Idempotent. "task.awaits_nothing"; "task.ended".
    [[nodiscard]] base::Result<wire::Task> approve(std::string_view id, const std::string& by);
    [[nodiscard]] base::Result<wire::Task> reject(std::string_view id, const std::string& by,
                                                  const std::string& reason);

    // All tasks of the offer's index that its agent has from now on: those that it had, those of
    // `offer.tasks` that were freed because the site was late, and the first in the queue that fit, as long as
    // there is room for what it does not know yet. So a repeated offer gets the same tasks. `holder`: as in
    // TaskRow; what an agent has that enrolled is no other's. `may` says what the token may build; other tasks stay as they are. A task that only fails to fit because the site builds no
    // uploaded sources gets the site's reason. A Python that does not answer is not offered: its tasks stay the
    // site's for the rest of their time.
    using May = std::function<bool(const wire::Task&)>;
    [[nodiscard]] base::Result<std::vector<wire::Task>> claim(const wire::ClaimOffer& offer,
                                                              const std::string& holder, const May& may);
    // The holder, and the site of the outcome, must have the task. Idempotent for the same outcome. Errors: "task.lost" (the
    // site was late, and the task is free again, or another's), "task.ended", "task.cancelled".
    [[nodiscard]] base::Result<wire::Task> end(std::string_view id, const wire::Outcome& outcome,
                                               const std::string& holder);
    // The task, if the holder has it: then it may upload its wheel. Error "task.lost".
    [[nodiscard]] base::Result<wire::Task> held(std::string_view id, const std::string& holder);
    // Called before the file is committed: from here on the task's wheel is this file alone, so that a retry
    // of it goes through and nothing else does. Errors: "task.lost", "task.other_wheel".
    [[nodiscard]] base::Status use(std::string_view id, const std::string& holder, std::string_view filename,
                                   std::string_view sha256);
    // Commits a transaction that changes no content: fails where a real change would.
    [[nodiscard]] base::Status try_write();
    // Number of ended tasks that this object has removed.
    [[nodiscard]] std::int64_t removed() const { return removed_; }

  private:
    struct Swept {
        std::int64_t removed = 0;
        bool is_all = false;  // nothing left to remove
    };
    // Runs `work` in its own transaction, after freeing what sites are late with.
    template <typename T>
    [[nodiscard]] base::Result<T> change(const std::function<base::Result<T>()>& work);
    // `work`, which only reads, in one snapshot; as change() where a site is late.
    template <typename T>
    [[nodiscard]] base::Result<T> look(const std::function<base::Result<T>()>& work);
    [[nodiscard]] base::Status free_late();
    void sweep();
    [[nodiscard]] base::Result<Swept> remove_old(base::UnixMicros now);
    [[nodiscard]] base::Result<TaskRow> task(std::string_view id) const;
    [[nodiscard]] base::Result<AddedTask> insert(const wire::TaskRequest& request,
                                                 const std::string& asked_by, wire::TaskState state);
    [[nodiscard]] base::Status refuse_unapproved(base::UnixMicros now);
    [[nodiscard]] base::Status note_refusals(const std::vector<wire::Task>& queued,
                                             const wire::ClaimOffer& offer, const May& may);
    [[nodiscard]] base::Result<wire::Task> end_unbuilt(std::string_view id, TaskEvent event,
                                                       const std::string& why, const std::string& reason);
    // `task` as it is to be, but for its state, reason and time of change.
    [[nodiscard]] base::Result<wire::Task> move(wire::Task task, wire::TaskState state,
                                                const std::string& reason);
    // False: another site was faster.
    [[nodiscard]] base::Result<bool> claim_one(const wire::Task& task, const wire::ClaimOffer& offer,
                                               const std::string& holder);
    [[nodiscard]] base::Result<TaskRow> held_row(std::string_view id, const std::string& holder) const;
    [[nodiscard]] base::UnixMicros lease_end() const;

    std::mutex mutex_;  // guards rows_
    const std::unique_ptr<TaskRows> rows_;
    const TaskRules rules_;
    const base::Clock& clock_;
    base::UnixMicros swept_ = 0;
    std::atomic<std::int64_t> removed_ = 0;
};

}  // namespace wheelyard::tasks
