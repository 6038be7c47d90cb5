// Every change of the task queue: one transaction each, durable when it returns (docs/reference/task.md).
//
// There is no timer thread: every query or change first ends expired leases, and the first change of an hour
// removes old tasks. The database, a restarted server and a concurrent command therefore always agree.
// Queries take no write lock unless a lease has expired.
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
#include "lib/wire/task.hpp"
#include "registry/tasks/limits.hpp"
#include "registry/tasks/task_rows.hpp"
#include "registry/tasks/transitions.hpp"

namespace wheelyard::tasks {

struct TaskRules {
    std::int64_t lease_s = 3'600;   // since the agent's last renewal
    std::int64_t max_attempts = 3;  // claims without an outcome before the task fails
    std::int64_t kept_days = 90;    // an ended task and its logs are removed after this time
};

struct AddedTask {
    wire::Task task;
    bool already_there = false;  // the same task was queued or claimed already
};

// What a claim gets with the task: the target index of its wheel, and the grant, created by the caller. A
// repeated claim keeps the grant's id and gets the new secret.
struct ClaimTerms {
    std::string target_index;
    std::string token;  // id of the claiming token
    std::string grant_id;
    std::string grant_sha256;
};

struct ClaimedTask {
    wire::Task task;
    std::string target_index;
    std::string grant_id;
};

struct Grant {
    std::string secret_sha256;
    std::string owner;  // id of the claiming token
    std::string index;
    std::string package;
    std::string version;
    base::UnixMicros until = 0;
    bool is_over = false;
};

// Thread-safe: the rows are behind a mutex, held for one short transaction. Errors: "task.*" (a refusal), and those of
// the rows.
class TaskStore {
  public:
    // `clock` must outlive the store.
    TaskStore(std::unique_ptr<TaskRows> rows, TaskRules rules, const base::Clock& clock)
        : rows_(std::move(rows)), rules_(rules), clock_(clock) {}

    // `request` must have passed check_task_request(), and resolve_source() if it has a source. With one, the task awaits an
    // approval. Error "task.too_many".
    [[nodiscard]] base::Result<AddedTask> add(const wire::TaskRequest& request, const std::string& asked_by);
    // The same for one without a token, whose name begins with stranger_prefix: it awaits an approval, and is refused
    // after approval_days without one. A request for the same with a token approves it. Error "task.too_many".
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
    // Ends the lease and its grant. Idempotent.
    [[nodiscard]] base::Result<wire::Task> cancel(std::string_view id, const std::string& by,
                                                  const std::string& reason);

    // Idempotent. "task.awaits_nothing"; "task.ended".
    [[nodiscard]] base::Result<wire::Task> approve(std::string_view id, const std::string& by);
    [[nodiscard]] base::Result<wire::Task> reject(std::string_view id, const std::string& by,
                                                  const std::string& reason);

    // The first in the queue that fits the offer and that `may` allows; nullopt: none. A claim that holds a
    // lease gets that one again. A task that only fails to fit because the site builds no uploaded sources gets the
    // site's reason. "task.lease_over", "task.ended", "task.cancelled": it held one.
    using May = std::function<bool(const wire::Task&)>;
    [[nodiscard]] base::Result<std::optional<ClaimedTask>> claim(const wire::ClaimOffer& offer,
                                                                 const ClaimTerms& terms, const May& may);
    // Errors of the next three: "task.no_such_claim", "task.lease_over", "task.ended", "task.cancelled".
    [[nodiscard]] base::Result<wire::Lease> renew(std::string_view id, std::string_view claim);
    // Bytes before the log's end are skipped, because they are stored already. "task.log_gap": `offset` is after
    // the end; "task.log_full".
    [[nodiscard]] base::Result<wire::Lease> append_log(std::string_view id, std::string_view claim,
                                                       std::int64_t offset, std::string_view bytes);
    // Idempotent for the same outcome.
    [[nodiscard]] base::Result<wire::Task> end(std::string_view id, const wire::TaskEnd& end);

    // The log of the latest attempt, or of one by its number from 1: at most log_piece_bytes from `offset`.
    [[nodiscard]] base::Result<std::string> read_log(std::string_view id, std::int64_t attempt,
                                                     std::int64_t offset);
    // The index for the wheel of a claim that holds its lease; nullopt if the task has its outcome. Other errors
    // as for renew. A refusal here is final: ended leases are never revived.
    [[nodiscard]] base::Result<std::optional<std::string>> target_index(std::string_view id,
                                                                        std::string_view claim);
    // The agent that made a claim, whatever became of it; nullopt: there is none.
    [[nodiscard]] base::Result<std::optional<std::string>> claimed_by(std::string_view claim);
    // Commits a transaction that changes no content: fails where a real change would.
    [[nodiscard]] base::Status try_write();
    // Number of ended tasks that this object has removed.
    [[nodiscard]] std::int64_t removed() const { return removed_; }

    [[nodiscard]] base::Result<std::optional<Grant>> find_grant(std::string_view grant_id);
    // Before a file is committed: from here on the grant is for this file alone, so that a retry of it goes
    // through and nothing else does. "grant.over", "grant.used".
    [[nodiscard]] base::Status use_grant(std::string_view grant_id, std::string_view filename,
                                         std::string_view sha256);

  private:
    struct Swept {
        std::int64_t removed = 0;
        bool is_all = false;  // nothing left to remove
    };
    // Runs `work` in its own transaction, after ending expired leases.
    template <typename T>
    [[nodiscard]] base::Result<T> change(const std::function<base::Result<T>()>& work);
    // `work`, which only reads, in one snapshot; as change() where a lease is over.
    template <typename T>
    [[nodiscard]] base::Result<T> look(const std::function<base::Result<T>()>& work);
    [[nodiscard]] base::Status end_leases();
    void sweep();
    [[nodiscard]] base::Result<Swept> remove_old(base::UnixMicros now);
    [[nodiscard]] base::Result<wire::Task> task(std::string_view id) const;
    // The lease if it is held and belongs to this task.
    [[nodiscard]] base::Result<LeaseRow> held_lease(std::string_view id, std::string_view claim) const;
    // The same, and renews it.
    [[nodiscard]] base::Result<LeaseRow> live_lease(std::string_view id, std::string_view claim);
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
    [[nodiscard]] base::Result<ClaimedTask> lend(const wire::Task& task, const wire::ClaimOffer& offer,
                                                 const ClaimTerms& terms);
    [[nodiscard]] base::Result<ClaimedTask> lend_again(const LeaseRow& held, const ClaimTerms& terms,
                                                       const May& may);
    [[nodiscard]] base::UnixMicros lease_end() const;

    std::mutex mutex_;  // guards rows_
    const std::unique_ptr<TaskRows> rows_;
    const TaskRules rules_;
    const base::Clock& clock_;
    base::UnixMicros swept_ = 0;
    std::atomic<std::int64_t> removed_ = 0;
};

}  // namespace wheelyard::tasks
