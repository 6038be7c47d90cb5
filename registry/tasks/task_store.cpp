#include "registry/tasks/task_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/problem.hpp"
#include "registry/tasks/limits.hpp"
#include "registry/tasks/task_rows.hpp"
#include "registry/tasks/transitions.hpp"

namespace wheelyard::tasks {
namespace {

constexpr std::int64_t max_open_tasks =
    10'000;  // more than a full build matrix; guards against faulty scripts
constexpr std::size_t max_reason_bytes = 500;

using base::Result;
using base::Status;
using wire::Task;
using wire::TaskState;

constexpr std::size_t task_id_bytes = 6;
bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool fits_target(const wire::ClaimOffer& offer, const Task& task) {
    const wire::TaskRequest& request = task.request;
    return (offer.task.empty() || offer.task == task.id) && has(offer.pythons, request.python) &&
           (request.accelerator.empty() || has(offer.accelerators, request.accelerator)) &&
           (!offer.packages || has(*offer.packages, request.package));
}

bool fits_source(const wire::ClaimOffer& offer, const Task& task) {
    return !task.request.source || offer.uploads.builds;
}

tl::unexpected<base::Error> refuse_lease(LeaseState state, std::string_view claim) {
    const std::string shown(claim.substr(0, 8));
    if (state == LeaseState::over)
        return wire::fail("task.lease_over", "The lease has ended and the task is back in the queue", shown,
                          "claim it again; the result of the old lease is not accepted");
    if (state == LeaseState::cancelled)
        return wire::fail("task.cancelled", "The task was cancelled", shown, "stop its job");
    return wire::fail("task.ended", "The task already has an outcome", shown, "no action needed");
}

tl::unexpected<base::Error> refuse_unknown_claim(std::string_view claim) {
    return wire::fail("task.no_such_claim", "This task has no such claim", std::string(claim.substr(0, 8)),
                      "claim the task first");
}

std::string lost_reason(const Task& task) {
    return "its lease ended " + std::to_string(task.attempts) + (task.attempts == 1 ? " time" : " times") +
           " without an outcome; the last agent was " + task.agent;
}

}  // namespace

template <typename T>
Result<T> TaskStore::change(const std::function<Result<T>()>& work) {
    const std::lock_guard lock(mutex_);
    sweep();
    std::optional<Result<T>> done;
    const Status kept = rows_->in_transaction([&]() -> Status {
        WHEELYARD_TRY(end_leases());
        done = work();
        if (!*done) return base::fail((*done).error());  // end_leases() runs again with the next change
        return {};
    });
    if (!kept) return base::fail(kept.error());
    return *std::move(done);
}

Status TaskStore::try_write() {
    const std::lock_guard lock(mutex_);
    return rows_->try_write();
}

template <typename T>
Result<T> TaskStore::look(const std::function<Result<T>()>& work) {
    {
        const std::lock_guard lock(mutex_);
        std::optional<Result<T>> seen;
        WHEELYARD_TRY(rows_->in_one_snapshot([&]() -> Status {
            WHEELYARD_ASSIGN(const bool is_over, rows_->has_lost(clock_.now()));
            if (!is_over) seen = work();
            return {};
        }));
        if (seen) return *std::move(seen);
    }
    return change<T>(work);
}

base::UnixMicros TaskStore::lease_end() const {
    return clock_.now() + rules_.lease_s * base::second_us;
}

Status TaskStore::end_leases() {
    WHEELYARD_ASSIGN(const std::vector<Task> lost, rows_->lost(clock_.now()));
    for (const Task& task : lost) {
        WHEELYARD_ASSIGN(const TaskState state,
                         next_state(task.state, TaskEvent::lease_over, {task.attempts, rules_.max_attempts}));
        WHEELYARD_TRY(rows_->end_held(task.id, LeaseState::over));
        WHEELYARD_ASSIGN([[maybe_unused]] const Task moved, move(task, state, lost_reason(task)));
    }
    return {};
}

// Removal is housekeeping: its failure refuses no change. Work beyond one
// transaction takes waits for the next change.
void TaskStore::sweep() {
    const base::UnixMicros now = clock_.now();
    if (now >= swept_ && now - swept_ < sweep_every_s * base::second_us) return;
    const auto swept = remove_old(now);
    if (!swept || swept->is_all) swept_ = now;
    if (!swept) {
        io::log_error("tasks.sweep_failed", {{"error", swept.error().text()}});
        return;
    }
    if (swept->removed == 0) return;
    removed_ += swept->removed;
    io::log_info("tasks.removed", {{"tasks", std::to_string(swept->removed)},
                                   {"kept_days", std::to_string(rules_.kept_days)}});
}

Result<TaskStore::Swept> TaskStore::remove_old(base::UnixMicros now) {
    Swept swept;
    WHEELYARD_TRY(rows_->in_transaction([&]() -> Status {
        WHEELYARD_TRY(refuse_unapproved(now));
        WHEELYARD_ASSIGN(const std::vector<Task> old,
                         rows_->ended_before(now - rules_.kept_days * base::day_us,
                                             static_cast<std::size_t>(max_removed_at_once)));
        std::int64_t log_bytes = 0;
        for (const Task& task : old) {
            if (log_bytes >= max_log_bytes_removed_at_once) break;
            WHEELYARD_ASSIGN(const std::int64_t own, rows_->log_bytes(task.id));
            WHEELYARD_TRY(rows_->remove(task.id));
            log_bytes += own;
            ++swept.removed;
        }
        const auto found = static_cast<std::int64_t>(old.size());
        swept.is_all = swept.removed == found && found < max_removed_at_once;
        return {};
    }));
    return swept;
}

// Others that await one, with uploaded sources, may be many.
Status TaskStore::refuse_unapproved(base::UnixMicros now) {
    const base::UnixMicros old = now - approval_days * base::day_us;
    TaskFilter filter;
    filter.state = TaskState::awaits_approval;
    std::string after;
    for (bool is_more = true; is_more;) {
        WHEELYARD_ASSIGN(const std::vector<Task> waiting, rows_->list(filter, after, max_tasks_returned));
        is_more = waiting.size() == max_tasks_returned && waiting.back().asked < old;
        if (is_more) after = waiting.back().id;
        for (const Task& task : waiting) {
            if (is_of_stranger(task) && task.asked < old)
                WHEELYARD_TRY(move(task, TaskState::cancelled, "rejected: nobody approved it in time"));
        }
    }
    return {};
}

Result<Task> TaskStore::task(std::string_view id) const {
    WHEELYARD_ASSIGN(auto found, rows_->find(id));
    if (!found)
        return wire::fail("task.no_such_task", "There is no task with this id", std::string(id.substr(0, 80)),
                          "see `wheelyard-registry task list`");
    return *std::move(found);
}

Result<LeaseRow> TaskStore::held_lease(std::string_view id, std::string_view claim) const {
    WHEELYARD_ASSIGN(auto found, rows_->lease(claim));
    if (!found || found->task != id) return refuse_unknown_claim(claim);
    if (found->state != LeaseState::held) return refuse_lease(found->state, claim);
    return *std::move(found);
}

Result<LeaseRow> TaskStore::live_lease(std::string_view id, std::string_view claim) {
    WHEELYARD_ASSIGN(LeaseRow held, held_lease(id, claim));
    held.until = lease_end();
    WHEELYARD_TRY(rows_->update(held));
    return held;
}

Result<Task> TaskStore::move(Task moved, TaskState state, const std::string& reason) {
    moved.state = state;
    moved.reason = reason;
    moved.changed = clock_.now();
    WHEELYARD_TRY(rows_->update(moved));
    return task(moved.id);
}

Result<AddedTask> TaskStore::add(const wire::TaskRequest& request, const std::string& asked_by) {
    return change<AddedTask>([&]() -> Result<AddedTask> {
        WHEELYARD_ASSIGN(auto there, rows_->find_open(request));
        if (there && there->state == TaskState::awaits_approval && is_of_stranger(*there)) {
            there->approved_by = asked_by;
            WHEELYARD_ASSIGN(Task approved, move(*std::move(there), TaskState::queued, ""));
            return AddedTask{std::move(approved), true};
        }
        if (there) return AddedTask{*std::move(there), true};
        return insert(request, asked_by, request.source ? TaskState::awaits_approval : TaskState::queued);
    });
}

Result<AddedTask> TaskStore::ask(const wire::TaskRequest& request, const std::string& stranger) {
    return change<AddedTask>([&]() -> Result<AddedTask> {
        WHEELYARD_ASSIGN(auto there, rows_->find_open(request));
        if (there) return AddedTask{*std::move(there), true};
        WHEELYARD_ASSIGN(const std::int64_t own, rows_->count_open(stranger));
        WHEELYARD_ASSIGN(const std::int64_t all, rows_->count_open_of_strangers());
        if (own >= max_open_of_a_stranger || all >= max_open_of_strangers)
            return wire::fail("task.too_many", "Too many requests without a token wait for an approval",
                              std::to_string(own) + " of yours, " + std::to_string(all) + " in all",
                              "wait until an operator has decided, or use a token");
        return insert(request, stranger, TaskState::awaits_approval);
    });
}

Status TaskStore::propose(const wire::TaskRequest& request, const std::string& asked_by) {
    const auto proposed = change<bool>([&]() -> Result<bool> {
        WHEELYARD_ASSIGN(const bool was_asked, rows_->was_asked(request));
        if (was_asked) return false;
        WHEELYARD_TRY(insert(request, asked_by, TaskState::awaits_approval));
        return true;
    });
    if (!proposed) return tl::unexpected(proposed.error());
    return {};
}

Result<AddedTask> TaskStore::insert(const wire::TaskRequest& request, const std::string& asked_by,
                                    TaskState state) {
    WHEELYARD_ASSIGN(const std::int64_t all, rows_->count_open({}));
    WHEELYARD_ASSIGN(const std::int64_t own, rows_->count_open(asked_by));
    if (all >= max_open_tasks || own >= max_open_tasks_of_a_token)
        return wire::fail("task.too_many", "Too many unfinished tasks",
                          std::to_string(own) + " of " + asked_by + ", " + std::to_string(all) + " in all",
                          "wait until some end, or cancel some");
    Task fresh;
    fresh.id = "t" + base::encode_hex(base::random_bytes(task_id_bytes));
    fresh.request = request;
    fresh.state = state;
    fresh.asked_by = asked_by;
    fresh.asked = clock_.now();
    fresh.changed = fresh.asked;
    WHEELYARD_TRY(rows_->insert(fresh));
    WHEELYARD_ASSIGN(Task added, task(fresh.id));
    return AddedTask{std::move(added), false};
}

Result<std::int64_t> TaskStore::place(const Task& task) {
    return look<std::int64_t>([&] { return rows_->count_queued_until(task); });
}

Result<Task> TaskStore::find(std::string_view id) {
    return look<Task>([&] { return task(id); });
}

Result<std::vector<Task>> TaskStore::list(const TaskFilter& filter, std::string_view after,
                                          std::size_t limit) {
    return look<std::vector<Task>>([&]() -> Result<std::vector<Task>> {
        if (!after.empty()) WHEELYARD_TRY(task(after));
        return rows_->list(filter, after, limit);
    });
}

Result<std::vector<Task>> TaskStore::lately_ended(const std::string& index) {
    return look<std::vector<Task>>([&] {
        return rows_->ended_since(index, clock_.now() - shown_after_end_days * base::day_us,
                                  max_tasks_returned);
    });
}

Result<Task> TaskStore::cancel(std::string_view id, const std::string& by, const std::string& reason) {
    return end_unbuilt(id, TaskEvent::cancel, "cancelled by " + by, reason);
}

Result<Task> TaskStore::reject(std::string_view id, const std::string& by, const std::string& reason) {
    return end_unbuilt(id, TaskEvent::reject, "rejected by " + by, reason);
}

Result<Task> TaskStore::end_unbuilt(std::string_view id, TaskEvent event, const std::string& why,
                                    const std::string& reason) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(const Task found, task(id));
        if (found.state == TaskState::cancelled) return found;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, event, {}));
        WHEELYARD_TRY(rows_->end_held(id, LeaseState::cancelled));
        return move(found, state, why + (reason.empty() ? "" : ": " + reason.substr(0, max_reason_bytes)));
    });
}

Result<Task> TaskStore::approve(std::string_view id, const std::string& by) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(Task found, task(id));
        if (!found.approved_by.empty() && !wire::is_over(found.state)) return found;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, TaskEvent::approve, {}));
        found.approved_by = by;
        return move(std::move(found), state, "");
    });
}

Result<std::optional<ClaimedTask>> TaskStore::claim(const wire::ClaimOffer& offer, const ClaimTerms& terms,
                                                    const May& may) {
    using Claim = std::optional<ClaimedTask>;
    return change<Claim>([&]() -> Result<Claim> {
        WHEELYARD_ASSIGN(auto held, rows_->lease(offer.claim));
        if (held) return lend_again(*std::move(held), terms, may);
        WHEELYARD_ASSIGN(const std::vector<Task> queued, rows_->queued(offer.index));
        const auto chosen = std::find_if(queued.begin(), queued.end(), [&](const Task& one) {
            return fits_target(offer, one) && fits_source(offer, one) && may(one);
        });
        WHEELYARD_TRY(note_refusals(queued, offer, may));
        if (chosen == queued.end()) return std::nullopt;
        return lend(*chosen, offer, terms);
    });
}

// The queue shows why a task with an uploaded source is not built. Its time of change stays: nothing happened to it.
Status TaskStore::note_refusals(const std::vector<Task>& queued, const wire::ClaimOffer& offer,
                                const May& may) {
    for (const Task& one : queued) {
        if (fits_source(offer, one) || !fits_target(offer, one) || !may(one)) continue;
        const std::string reason = offer.agent + " does not build uploaded sources" +
                                   (offer.uploads.reason.empty() ? "" : ": " + offer.uploads.reason);
        if (one.reason == reason) continue;
        Task explained = one;
        explained.reason = reason;
        WHEELYARD_TRY(rows_->update(explained));
    }
    return {};
}

Result<ClaimedTask> TaskStore::lend(const Task& chosen, const wire::ClaimOffer& offer,
                                    const ClaimTerms& terms) {
    Task lent = chosen;
    lent.attempts = chosen.attempts + 1;
    WHEELYARD_ASSIGN(const TaskState state,
                     next_state(chosen.state, TaskEvent::claim, {lent.attempts, rules_.max_attempts}));
    WHEELYARD_TRY(rows_->insert(LeaseRow{.claim = offer.claim,
                                         .task = chosen.id,
                                         .number = lent.attempts,
                                         .agent = offer.agent,
                                         .token = terms.token,
                                         .until = lease_end(),
                                         .target_index = terms.target_index,
                                         .grant_id = terms.grant_id,
                                         .grant_sha256 = terms.grant_sha256}));
    WHEELYARD_ASSIGN(Task moved, move(std::move(lent), state, ""));
    return ClaimedTask{std::move(moved), terms.target_index, terms.grant_id};
}

Result<ClaimedTask> TaskStore::lend_again(const LeaseRow& held, const ClaimTerms& terms, const May& may) {
    WHEELYARD_ASSIGN(const Task known, task(held.task));
    if (!may(known)) return refuse_unknown_claim(held.claim);
    WHEELYARD_ASSIGN(LeaseRow live, live_lease(held.task, held.claim));
    live.grant_sha256 = terms.grant_sha256;
    live.token = terms.token;
    WHEELYARD_TRY(rows_->update(live));
    WHEELYARD_ASSIGN(Task again, task(held.task));
    return ClaimedTask{std::move(again), std::move(live.target_index), std::move(live.grant_id)};
}

Result<wire::Lease> TaskStore::renew(std::string_view id, std::string_view claim) {
    return change<wire::Lease>([&]() -> Result<wire::Lease> {
        WHEELYARD_ASSIGN(const LeaseRow live, live_lease(id, claim));
        return wire::Lease{rules_.lease_s, live.log_bytes};
    });
}

Result<wire::Lease> TaskStore::append_log(std::string_view id, std::string_view claim, std::int64_t offset,
                                          std::string_view bytes) {
    return change<wire::Lease>([&]() -> Result<wire::Lease> {
        WHEELYARD_ASSIGN(LeaseRow live, live_lease(id, claim));
        if (offset < 0 || offset > live.log_bytes)
            return wire::fail("task.log_gap", "The offset is not the end of the log",
                              "the log has " + std::to_string(live.log_bytes) + " bytes",
                              "send the bytes from there on");
        const auto known = static_cast<std::size_t>(live.log_bytes - offset);
        if (known >= bytes.size()) return wire::Lease{rules_.lease_s, live.log_bytes};
        const std::string_view fresh = bytes.substr(known);
        const std::int64_t size = live.log_bytes + static_cast<std::int64_t>(fresh.size());
        if (size > max_log_bytes || live.log_pieces >= max_log_pieces)
            return wire::fail("task.log_full", "The log has reached its maximum size",
                              std::to_string(max_log_bytes) + " bytes",
                              "keep the rest on the agent; the outcome is still accepted");
        WHEELYARD_TRY(rows_->append_log(claim, live.log_bytes, fresh));
        live.log_bytes = size;
        ++live.log_pieces;
        WHEELYARD_TRY(rows_->update(live));
        return wire::Lease{rules_.lease_s, size};
    });
}

Result<Task> TaskStore::end(std::string_view id, const wire::TaskEnd& end) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(const auto known, rows_->lease(end.claim));
        if (known && known->task == id && known->state == LeaseState::ended) {
            WHEELYARD_ASSIGN(Task ended, task(id));
            const bool same = end.outcome.done == (ended.state == TaskState::done);
            if (same) return ended;
        }
        WHEELYARD_ASSIGN(LeaseRow live, live_lease(id, end.claim));
        WHEELYARD_ASSIGN(const Task found, task(id));
        const TaskEvent event = end.outcome.done ? TaskEvent::end_done : TaskEvent::end_failed;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, event, {}));
        live.state = LeaseState::ended;
        WHEELYARD_TRY(rows_->update(live));
        WHEELYARD_TRY(rows_->set_outcome(id, wire::render_outcome(end.outcome)));
        const std::string why = end.outcome.diagnosis ? end.outcome.diagnosis->error.sentence : "";
        return move(found, state, why.substr(0, max_reason_bytes));
    });
}

Result<std::optional<std::string>> TaskStore::claimed_by(std::string_view claim) {
    return look<std::optional<std::string>>([&]() -> Result<std::optional<std::string>> {
        WHEELYARD_ASSIGN(const auto lease, rows_->lease(claim));
        return lease ? std::optional(lease->agent) : std::nullopt;
    });
}

Result<std::string> TaskStore::read_log(std::string_view id, std::int64_t attempt, std::int64_t offset) {
    return look<std::string>([&]() -> Result<std::string> {
        WHEELYARD_ASSIGN(const Task found, task(id));
        return rows_->read_log(id, attempt > 0 ? attempt : found.attempts, offset, log_piece_bytes);
    });
}

Result<std::optional<std::string>> TaskStore::target_index(std::string_view id, std::string_view claim) {
    return look<std::optional<std::string>>([&]() -> Result<std::optional<std::string>> {
        WHEELYARD_ASSIGN(const auto known, rows_->lease(claim));
        if (known && known->task == id && known->state == LeaseState::ended) return std::nullopt;
        WHEELYARD_ASSIGN(LeaseRow held, held_lease(id, claim));
        return std::move(held.target_index);
    });
}

Result<std::optional<Grant>> TaskStore::find_grant(std::string_view grant_id) {
    return look<std::optional<Grant>>([&]() -> Result<std::optional<Grant>> {
        WHEELYARD_ASSIGN(const auto lease, rows_->lease_of_grant(grant_id));
        if (!lease) return std::nullopt;
        WHEELYARD_ASSIGN(const Task of, task(lease->task));
        return Grant{.secret_sha256 = lease->grant_sha256,
                     .owner = lease->token,
                     .index = lease->target_index,
                     .package = of.request.package,
                     .version = of.request.version,
                     .until = lease->until,
                     .is_over = lease->state != LeaseState::held};
    });
}

Status TaskStore::use_grant(std::string_view grant_id, std::string_view filename, std::string_view sha256) {
    return change<void>([&]() -> Status {
        WHEELYARD_ASSIGN(auto lease, rows_->lease_of_grant(grant_id));
        if (!lease || lease->state != LeaseState::held)
            return wire::fail("grant.over", "This grant has ended with its task's lease",
                              std::string(grant_id), "claim the task again");
        const std::string& used = lease->used_filename;
        if (!used.empty() && (used != filename || lease->used_sha256 != sha256))
            return wire::fail("grant.used", "The grant was used for another file", used,
                              "a task has one wheel; add another task for another wheel");
        lease->used_filename = filename;
        lease->used_sha256 = sha256;
        return rows_->update(*lease);
    });
}

}  // namespace wheelyard::tasks
