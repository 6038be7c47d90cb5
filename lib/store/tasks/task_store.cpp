#include "lib/store/tasks/task_store.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/store/tasks/limits.hpp"
#include "lib/store/tasks/task_rows.hpp"
#include "lib/store/tasks/transitions.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::tasks {
namespace {

constexpr std::int64_t max_open_tasks =
    10'000;  // more than a full build matrix; guards against faulty scripts
constexpr std::size_t max_reason_bytes = 500;
constexpr std::size_t max_id_shown = 80;

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
    return has(offer.pythons, request.python) &&
           (request.accelerator.empty() || has(offer.accelerators, request.accelerator)) &&
           (!offer.packages || has(*offer.packages, request.package));
}

bool fits_source(const wire::ClaimOffer& offer, const Task& task) {
    return !task.request.source || offer.uploads.builds;
}

// Agents on two hosts of a site have a journal each: a task is the one's whose journal knows it under the name
// by which it was taken, or whose name that is, and the answer with it was lost.
bool is_its_own(const wire::ClaimOffer& offer, const Task& task) {
    return wire::site_of_agent(task.agent) == wire::site_of_agent(offer.agent) &&
           (task.agent == offer.agent || (has(offer.tasks, task.id) && has(offer.agents, task.agent)));
}

// An agent that enrolled shares what its site has with nobody.
bool may_speak_for(const std::string& holder, const TaskRow& task) {
    return task.holder == holder || !task.holder.starts_with(enrolled_prefix);
}

std::string late_reason(const Task& task) {
    return "its site was late " + std::to_string(task.attempts) + (task.attempts == 1 ? " time" : " times") +
           " without an outcome; the last agent was " + task.agent;
}

}  // namespace

template <typename T>
Result<T> TaskStore::change(const std::function<Result<T>()>& work) {
    const std::lock_guard lock(mutex_);
    sweep();
    std::optional<Result<T>> done;
    const Status kept = rows_->in_transaction([&]() -> Status {
        WHEELYARD_TRY(free_late());
        done = work();
        if (!*done) return base::fail((*done).error());  // free_late() runs again with the next change
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
            WHEELYARD_ASSIGN(const bool is_over, rows_->has_late(clock_.now()));
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

Status TaskStore::free_late() {
    WHEELYARD_ASSIGN(const std::vector<Task> late, rows_->late(clock_.now()));
    for (const Task& task : late) {
        WHEELYARD_ASSIGN(const TaskState state,
                         next_state(task.state, TaskEvent::late, {task.attempts, rules_.max_attempts}));
        WHEELYARD_ASSIGN([[maybe_unused]] const Task moved, move(task, state, late_reason(task)));
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
        for (const Task& task : old)
            WHEELYARD_TRY(rows_->remove(task.id));
        swept.removed = static_cast<std::int64_t>(old.size());
        swept.is_all = swept.removed < max_removed_at_once;
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

Result<TaskRow> TaskStore::task(std::string_view id) const {
    WHEELYARD_ASSIGN(auto found, rows_->find(id));
    if (!found)
        return wire::fail("task.no_such_task", "There is no task with this id",
                          std::string(id.substr(0, max_id_shown)), "see `wheelyard-registry task list`");
    return *std::move(found);
}

Result<Task> TaskStore::move(Task moved, TaskState state, const std::string& reason) {
    moved.state = state;
    moved.reason = reason;
    moved.changed = clock_.now();
    moved.lease_until = 0;
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
    return look<Task>([&]() -> Result<Task> { return task(id); });
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

Result<std::vector<Task>> TaskStore::claim(const wire::ClaimOffer& offer, const std::string& holder,
                                           const May& may) {
    return change<std::vector<Task>>([&]() -> Result<std::vector<Task>> {
        std::int64_t room = offer.room;
        WHEELYARD_ASSIGN(std::vector<TaskRow> taken, rows_->claimed(offer.index));
        for (TaskRow& task : taken) {
            if (!is_its_own(offer, task) || !may_speak_for(holder, task) || !may(task)) continue;
            if (!has(offer.tasks, task.id)) --room;  // the answer with it was lost
            if (!has(offer.pythons, task.request.python)) continue;
            task.agent = offer.agent;
            task.holder = holder;
            task.lease_until = lease_end();
            WHEELYARD_TRY(rows_->renew(task));
        }
        WHEELYARD_ASSIGN(const std::vector<Task> queued, rows_->queued(offer.index));
        for (const Task& one : queued) {
            if (!fits_target(offer, one) || !fits_source(offer, one) || !may(one)) continue;
            const bool was_known = has(offer.tasks, one.id) && is_its_own(offer, one);
            if (!was_known && room <= 0) continue;
            WHEELYARD_ASSIGN(const bool is_taken, claim_one(one, offer, holder));
            if (is_taken && !was_known) --room;
        }
        WHEELYARD_TRY(note_refusals(queued, offer, may));
        WHEELYARD_ASSIGN(taken, rows_->claimed(offer.index));
        std::vector<Task> own;
        for (TaskRow& task : taken) {
            if (is_its_own(offer, task) && may_speak_for(holder, task) && may(task))
                own.push_back(std::move(task));
        }
        return own;
    });
}

// The queue shows why a task with an uploaded source is not built. Its time of change stays: nothing happened
// to it.
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

Result<bool> TaskStore::claim_one(const Task& task, const wire::ClaimOffer& offer,
                                  const std::string& holder) {
    TaskRow taken{task};
    ++taken.attempts;
    WHEELYARD_ASSIGN(taken.state,
                     next_state(task.state, TaskEvent::claim, {taken.attempts, rules_.max_attempts}));
    taken.agent = offer.agent;
    taken.holder = holder;
    taken.changed = clock_.now();
    taken.lease_until = lease_end();
    return rows_->claim(taken);
}

Result<Task> TaskStore::end(std::string_view id, const wire::Outcome& outcome, const std::string& holder) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(const TaskRow found, task(id));
        const bool is_same = found.outcome.string_or("site", "") == outcome.site &&
                             found.state == (outcome.done ? TaskState::done : TaskState::failed);
        if (is_same) return found;
        if (found.state == TaskState::cancelled)
            return wire::fail("task.cancelled", "The task was cancelled", found.id, "stop its job");
        const bool is_its_site =
            wire::site_of_agent(found.agent) == outcome.site && may_speak_for(holder, found);
        if (found.state == TaskState::claimed && !is_its_site) return fail_lost(found.id);
        const TaskEvent event = outcome.done ? TaskEvent::end_done : TaskEvent::end_failed;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, event, {}));
        WHEELYARD_TRY(rows_->set_outcome(id, wire::render_outcome(outcome)));
        const std::string why = outcome.diagnosis ? outcome.diagnosis->error.sentence : "";
        return move(found, state, why.substr(0, max_reason_bytes));
    });
}

Result<TaskRow> TaskStore::held_row(std::string_view id, const std::string& holder) const {
    WHEELYARD_ASSIGN(auto found, rows_->find(id));
    if (!found || found->state != TaskState::claimed || found->holder != holder)
        return fail_lost(std::string(id.substr(0, max_id_shown)));
    return *std::move(found);
}

Result<Task> TaskStore::held(std::string_view id, const std::string& holder) {
    return look<Task>([&]() -> Result<Task> { return held_row(id, holder); });
}

Status TaskStore::use(std::string_view id, const std::string& holder, std::string_view filename,
                      std::string_view sha256) {
    return change<void>([&]() -> Status {
        WHEELYARD_ASSIGN(TaskRow task, held_row(id, holder));
        if (task.used_filename == filename && task.used_sha256 == sha256) return {};
        if (!task.used_filename.empty())
            return wire::fail("task.other_wheel", "Another file was uploaded for the task",
                              task.used_filename, "a task has one wheel; add another task for another wheel");
        task.used_filename = filename;
        task.used_sha256 = sha256;
        return rows_->renew(task);
    });
}

}  // namespace wheelyard::tasks
