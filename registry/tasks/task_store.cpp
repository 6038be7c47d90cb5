#include "registry/tasks/task_store.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/problem.hpp"
#include "registry/catalog/schema.hpp"
#include "registry/tasks/limits.hpp"
#include "registry/tasks/schema.hpp"
#include "registry/tasks/task_rows.hpp"
#include "registry/tasks/transitions.hpp"

namespace wheelyard::tasks {
namespace {

using base::fail;
using base::Result;
using base::Status;
using catalog::Statement;
using catalog::Transaction;
using wire::Task;
using wire::TaskState;

constexpr std::int64_t micros_per_s = 1'000'000;
constexpr std::int64_t s_per_day = 24 * 3'600;
constexpr std::size_t task_id_bytes = 6;
// Of the states of tasks that have not ended: the index open_task has the same list (schema.cpp).
constexpr const char* is_open = "state IN ('awaits_approval', 'queued', 'claimed')";

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool fits_target(const wire::ClaimOffer& offer, const Task& task) {
    const wire::TaskWish& wish = task.wish;
    return (offer.task.empty() || offer.task == task.id) && has(offer.pythons, wish.python) &&
           (wish.accelerator.empty() || has(offer.accelerators, wish.accelerator)) &&
           (!offer.packages || has(*offer.packages, wish.package));
}

bool fits_source(const wire::ClaimOffer& offer, const Task& task) {
    return !task.wish.source || offer.uploads.builds;
}

tl::unexpected<base::Error> refuse_lease(const std::string& state, std::string_view claim) {
    const std::string shown(claim.substr(0, 8));
    if (state == "over")
        return wire::fail("task.lease_over", "The lease has ended and the task is back in the queue", shown,
                          "claim it again; the result of the old lease is not accepted");
    if (state == "cancelled")
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

struct TaskStore::LeaseRow {
    std::string claim;
    std::string task;
    std::string state;
    std::string target_index;
    std::string grant_id;
    std::int64_t log_bytes = 0;
    std::int64_t log_pieces = 0;
};

Result<std::unique_ptr<TaskStore>> TaskStore::open(const std::filesystem::path& file, TaskRules rules,
                                                   const base::Clock& clock) {
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    WHEELYARD_ASSIGN(catalog::Database database,
                     catalog::Database::open(file, catalog::Database::Mode::read_write));
    WHEELYARD_TRY(database.keep_log());  // before any statement can open it
    // As the catalog (catalog.cpp): a commit is on the disk when it returns.
    WHEELYARD_TRY(database.run("PRAGMA journal_mode = WAL"));
    WHEELYARD_TRY(database.run("PRAGMA synchronous = FULL"));
    // Debian's SQLite writes zeros over what is deleted, through the write-ahead log: logs are not secret.
    WHEELYARD_TRY(database.run("PRAGMA secure_delete = OFF"));
    WHEELYARD_TRY(catalog::migrate(database, schema_steps(), "task queue"));
    // After the migrations, which replace a table that others refer to.
    WHEELYARD_TRY(database.run("PRAGMA foreign_keys = ON"));
    return std::unique_ptr<TaskStore>(new TaskStore(std::move(database), rules, clock));
}

template <typename T>
Result<T> TaskStore::change(const std::function<Result<T>()>& work) {
    const std::lock_guard lock(mutex_);
    sweep();
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database_));
    WHEELYARD_TRY(end_leases());
    auto done = work();
    if (!done) return done;  // end_leases() runs again with the next change
    WHEELYARD_TRY(transaction.commit());
    return done;
}

Status TaskStore::try_write() {
    const std::lock_guard lock(mutex_);
    return catalog::try_write(database_);
}

template <typename T>
Result<T> TaskStore::look(const std::function<Result<T>()>& work) {
    {
        const std::lock_guard lock(mutex_);
        WHEELYARD_ASSIGN(const Transaction snapshot, Transaction::begin_read(database_));
        WHEELYARD_ASSIGN(const std::int64_t over,
                         database_.integer("SELECT count(*) FROM lease WHERE state = 'held' AND until <= ?",
                                           clock_.now()));
        if (over == 0) return work();
    }
    return change<T>(work);
}

base::UnixMicros TaskStore::lease_end() const {
    return clock_.now() + rules_.lease_s * micros_per_s;
}

Status TaskStore::end_leases() {
    std::vector<Task> lost;
    {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(select_rows("WHERE lease.state = 'held' AND lease.until <= ?"), clock_.now()));
        WHEELYARD_ASSIGN(lost, read_tasks(std::move(query)));
    }
    for (const Task& task : lost) {
        WHEELYARD_ASSIGN(const TaskState state,
                         next_state(task.state, TaskEvent::lease_over, {task.attempts, rules_.max_attempts}));
        WHEELYARD_TRY(
            database_.run("UPDATE lease SET state = 'over' WHERE task = ? AND state = 'held'", task.id));
        WHEELYARD_ASSIGN([[maybe_unused]] const Task moved, move(task, state, lost_reason(task)));
    }
    return {};
}

// Removal is housekeeping: its failure refuses no change. Work beyond one
// transaction takes waits for the next change.
void TaskStore::sweep() {
    const base::UnixMicros now = clock_.now();
    if (now >= swept_ && now - swept_ < sweep_every_s * micros_per_s) return;
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
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database_));
    std::vector<Task> old;
    {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(select_rows("WHERE task.state IN ('done', 'failed', 'cancelled') AND "
                                          "task.changed < ? ORDER BY task.number LIMIT ?"),
                              now - rules_.kept_days * s_per_day * micros_per_s, max_removed_at_once));
        WHEELYARD_ASSIGN(old, read_tasks(std::move(query)));
    }
    Swept swept;
    std::int64_t log_bytes = 0;
    for (const Task& task : old) {
        if (log_bytes >= max_log_bytes_removed_at_once) break;
        WHEELYARD_ASSIGN(
            const std::int64_t own,
            database_.integer("SELECT coalesce(sum(log_bytes), 0) FROM lease WHERE task = ?", task.id));
        WHEELYARD_TRY(remove(task.id));
        log_bytes += own;
        ++swept.removed;
    }
    WHEELYARD_TRY(transaction.commit());
    const auto found = static_cast<std::int64_t>(old.size());
    swept.is_all = swept.removed == found && found < max_removed_at_once;
    return swept;
}

Status TaskStore::remove(const std::string& id) {
    WHEELYARD_TRY(
        database_.run("DELETE FROM log_piece WHERE claim IN (SELECT claim FROM lease WHERE task = ?)", id));
    WHEELYARD_TRY(database_.run("DELETE FROM lease WHERE task = ?", id));
    return database_.run("DELETE FROM task WHERE id = ?", id);
}

Result<std::vector<Task>> TaskStore::read_tasks(Statement query) const {
    std::vector<Task> tasks;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return tasks;
        tasks.push_back(task_of(query));
    }
}

Result<Task> TaskStore::task(std::string_view id) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare(select_whole("WHERE task.id = ?"), id));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row)
        return wire::fail("task.no_such_task", "There is no task with this id", std::string(id.substr(0, 80)),
                          "see `wheelyard-registry task list`");
    return task_of(query);
}

Result<std::optional<TaskStore::LeaseRow>> TaskStore::lease(std::string_view claim) const {
    WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT claim, task, state, target_index, grant_id, "
                                                   "log_bytes, log_pieces FROM lease WHERE claim = ?",
                                                   claim));
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return LeaseRow{query.text(0), query.text(1),    query.text(2),   query.text(3),
                    query.text(4), query.integer(5), query.integer(6)};
}

Result<TaskStore::LeaseRow> TaskStore::held_lease(std::string_view id, std::string_view claim) const {
    WHEELYARD_ASSIGN(auto found, lease(claim));
    if (!found || found->task != id) return refuse_unknown_claim(claim);
    if (found->state != "held") return refuse_lease(found->state, claim);
    return *std::move(found);
}

Result<TaskStore::LeaseRow> TaskStore::live_lease(std::string_view id, std::string_view claim) {
    WHEELYARD_ASSIGN(LeaseRow held, held_lease(id, claim));
    WHEELYARD_TRY(database_.run("UPDATE lease SET until = ? WHERE claim = ?", lease_end(), claim));
    return held;
}

Result<Task> TaskStore::move(const Task& from, TaskState state, const std::string& reason) {
    WHEELYARD_TRY(database_.run("UPDATE task SET state = ?, reason = ?, changed = ? WHERE id = ?",
                                wire::task_state_text(state), reason, clock_.now(), from.id));
    return task(from.id);
}

Result<AddedTask> TaskStore::add(const wire::TaskWish& wish, const std::string& asked_by) {
    return change<AddedTask>([&]() -> Result<AddedTask> {
        WHEELYARD_ASSIGN(
            auto there,
            database_.prepare(
                select_rows(
                    std::string(
                        "WHERE task.index_name = ? AND task.package = ? AND task.version = ? AND "
                        "task.python = ? AND task.accelerator = ? AND task.source_sha256 = ? AND task.") +
                    is_open),
                wish.index, wish.package, wish.version, wish.python, wish.accelerator,
                wish.source ? wish.source->sha256 : std::string()));
        WHEELYARD_ASSIGN(const bool exists, there.step());
        if (exists) return AddedTask{task_of(there), true};
        return insert(wish, asked_by);
    });
}

Status TaskStore::propose(const wire::TaskWish& wish, const std::string& asked_by) {
    const auto proposed = change<bool>([&]() -> Result<bool> {
        WHEELYARD_ASSIGN(
            const std::int64_t before,
            database_.integer("SELECT count(*) FROM task WHERE index_name = ? AND package = ? AND "
                              "version = ? AND python = ? AND accelerator = ? AND "
                              "source_sha256 = ?",
                              wish.index, wish.package, wish.version, wish.python, wish.accelerator,
                              wish.source->sha256));
        if (before > 0) return false;
        WHEELYARD_TRY(insert(wish, asked_by));
        return true;
    });
    if (!proposed) return tl::unexpected(proposed.error());
    return {};
}

Result<AddedTask> TaskStore::insert(const wire::TaskWish& wish, const std::string& asked_by) {
    const wire::UploadedSource source = wish.source.value_or(wire::UploadedSource{});
    const TaskState first = wish.source ? TaskState::awaits_approval : TaskState::queued;
    WHEELYARD_ASSIGN(const std::int64_t all,
                     database_.integer(std::string("SELECT count(*) FROM task WHERE ") + is_open));
    WHEELYARD_ASSIGN(
        const std::int64_t own,
        database_.integer(std::string("SELECT count(*) FROM task WHERE ") + is_open + " AND asked_by = ?",
                          asked_by));
    if (all >= max_open_tasks || own >= max_open_tasks_of_a_token)
        return wire::fail("task.too_many", "Too many unfinished tasks",
                          std::to_string(own) + " of " + asked_by + ", " + std::to_string(all) + " in all",
                          "wait until some end, or cancel some");
    const std::string id = "t" + base::encode_hex(base::random_bytes(task_id_bytes));
    const base::UnixMicros now = clock_.now();
    WHEELYARD_TRY(database_.run(
        "INSERT INTO task (id, index_name, package, version, python, accelerator, source_index, "
        "source_filename, source_sha256, state, reason, asked_by, approved_by, asked, changed, attempts, "
        "outcome_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, '', ?, ?, 0, '')",
        id, wish.index, wish.package, wish.version, wish.python, wish.accelerator, source.index,
        source.filename, source.sha256, wire::task_state_text(first), asked_by, now, now));
    WHEELYARD_ASSIGN(Task added, task(id));
    return AddedTask{std::move(added), false};
}

Result<Task> TaskStore::find(std::string_view id) {
    return look<Task>([&] { return task(id); });
}

Result<std::vector<Task>> TaskStore::list(const TaskFilter& filter, std::string_view after,
                                          std::size_t limit) {
    return look<std::vector<Task>>([&]() -> Result<std::vector<Task>> {
        if (!after.empty()) WHEELYARD_TRY(task(after));
        const std::string_view state = filter.state ? wire::task_state_text(*filter.state) : "";
        const SqlSet indexes(filter.indexes);
        const SqlSet packages(filter.packages);
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                select_rows("WHERE (? = '' OR task.index_name = ?) AND (? = '' OR task.state = ?) AND "
                            "(? OR task.index_name IN (SELECT value FROM json_each(?))) AND "
                            "(? OR task.package IN (SELECT value FROM json_each(?))) AND "
                            "task.number > coalesce((SELECT number FROM task WHERE id = ?), 0) "
                            "ORDER BY task.number LIMIT ?"),
                filter.index, filter.index, state, state, indexes.has_all, indexes.json, packages.has_all,
                packages.json, after, static_cast<std::int64_t>(limit)));
        return read_tasks(std::move(query));
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
        WHEELYARD_TRY(
            database_.run("UPDATE lease SET state = 'cancelled' WHERE task = ? AND state = 'held'", id));
        return move(found, state, why + (reason.empty() ? "" : ": " + reason.substr(0, max_reason_bytes)));
    });
}

Result<Task> TaskStore::approve(std::string_view id, const std::string& by) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(const Task found, task(id));
        if (!found.approved_by.empty() && !wire::is_over(found.state)) return found;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, TaskEvent::approve, {}));
        WHEELYARD_TRY(database_.run("UPDATE task SET approved_by = ? WHERE id = ?", by, id));
        return move(found, state, "");
    });
}

Result<std::optional<ClaimedTask>> TaskStore::claim(const wire::ClaimOffer& offer, const ClaimTerms& terms,
                                                    const May& may) {
    using Claim = std::optional<ClaimedTask>;
    return change<Claim>([&]() -> Result<Claim> {
        WHEELYARD_ASSIGN(const auto held, lease(offer.claim));
        if (held) return lend_again(*held, terms, may);
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                select_rows("WHERE task.state = 'queued' AND task.index_name = ? ORDER BY task.number"),
                offer.index));
        WHEELYARD_ASSIGN(const std::vector<Task> queued, read_tasks(std::move(query)));
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
        WHEELYARD_TRY(database_.run("UPDATE task SET reason = ? WHERE id = ?", reason, one.id));
    }
    return {};
}

Result<ClaimedTask> TaskStore::lend(const Task& chosen, const wire::ClaimOffer& offer,
                                    const ClaimTerms& terms) {
    const std::int64_t number = chosen.attempts + 1;
    WHEELYARD_ASSIGN(const TaskState state,
                     next_state(chosen.state, TaskEvent::claim, {number, rules_.max_attempts}));
    WHEELYARD_TRY(database_.run(
        "INSERT INTO lease (claim, task, number, agent, token, state, until, target_index, grant_id, "
        "grant_sha256, used_filename, used_sha256, log_bytes, log_pieces) VALUES (?, ?, ?, ?, ?, 'held', ?, "
        "?, ?, ?, '', '', 0, 0)",
        offer.claim, chosen.id, number, offer.agent, terms.token, lease_end(), terms.target_index,
        terms.grant_id, terms.grant_sha256));
    WHEELYARD_TRY(database_.run("UPDATE task SET attempts = ? WHERE id = ?", number, chosen.id));
    WHEELYARD_ASSIGN(Task moved, move(chosen, state, ""));
    return ClaimedTask{std::move(moved), terms.target_index, terms.grant_id};
}

Result<ClaimedTask> TaskStore::lend_again(const LeaseRow& held, const ClaimTerms& terms, const May& may) {
    WHEELYARD_ASSIGN(const Task known, task(held.task));
    if (!may(known)) return refuse_unknown_claim(held.claim);
    WHEELYARD_ASSIGN([[maybe_unused]] const LeaseRow live, live_lease(held.task, held.claim));
    WHEELYARD_TRY(database_.run("UPDATE lease SET grant_sha256 = ?, token = ? WHERE claim = ?",
                                terms.grant_sha256, terms.token, held.claim));
    WHEELYARD_ASSIGN(Task again, task(held.task));
    return ClaimedTask{std::move(again), held.target_index, held.grant_id};
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
        WHEELYARD_ASSIGN(const LeaseRow live, live_lease(id, claim));
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
        WHEELYARD_TRY(database_.run("INSERT INTO log_piece (claim, start, bytes) VALUES (?, ?, ?)", claim,
                                    live.log_bytes, fresh));
        WHEELYARD_TRY(database_.run(
            "UPDATE lease SET log_bytes = ?, log_pieces = log_pieces + 1 WHERE claim = ?", size, claim));
        return wire::Lease{rules_.lease_s, size};
    });
}

Result<Task> TaskStore::end(std::string_view id, const wire::TaskEnd& end) {
    return change<Task>([&]() -> Result<Task> {
        WHEELYARD_ASSIGN(const auto known, lease(end.claim));
        const std::string outcome = wire::render_outcome(end.outcome);
        if (known && known->task == id && known->state == "ended") {
            WHEELYARD_ASSIGN(Task ended, task(id));
            const bool same = end.outcome.done == (ended.state == TaskState::done);
            if (same) return ended;
        }
        WHEELYARD_ASSIGN([[maybe_unused]] const LeaseRow live, live_lease(id, end.claim));
        WHEELYARD_ASSIGN(const Task found, task(id));
        const TaskEvent event = end.outcome.done ? TaskEvent::end_done : TaskEvent::end_failed;
        WHEELYARD_ASSIGN(const TaskState state, next_state(found.state, event, {}));
        WHEELYARD_TRY(database_.run("UPDATE lease SET state = 'ended' WHERE claim = ?", end.claim));
        WHEELYARD_TRY(database_.run("UPDATE task SET outcome_json = ? WHERE id = ?", outcome, id));
        const std::string why = end.outcome.diagnosis ? end.outcome.diagnosis->error.sentence : "";
        return move(found, state, why.substr(0, max_reason_bytes));
    });
}

Result<std::string> TaskStore::read_log(std::string_view id, std::int64_t attempt, std::int64_t offset) {
    return look<std::string>([&]() -> Result<std::string> {
        WHEELYARD_ASSIGN(const Task found, task(id));
        const std::int64_t number = attempt > 0 ? attempt : found.attempts;
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                "SELECT log_piece.start, log_piece.bytes FROM log_piece JOIN lease ON lease.claim "
                "= log_piece.claim WHERE lease.task = ? AND lease.number = ? AND "
                "log_piece.start + length(CAST(log_piece.bytes AS BLOB)) > ? ORDER BY "
                "log_piece.start",
                id, number, offset));
        std::string log;
        while (log.size() < log_piece_bytes) {
            WHEELYARD_ASSIGN(const bool row, query.step());
            if (!row) break;
            const std::int64_t start = query.integer(0);
            const std::string bytes = query.text(1);
            log += start < offset ? bytes.substr(static_cast<std::size_t>(offset - start)) : bytes;
        }
        if (log.size() > log_piece_bytes) log.resize(log_piece_bytes);
        return log;
    });
}

Result<std::optional<std::string>> TaskStore::target_index(std::string_view id, std::string_view claim) {
    return look<std::optional<std::string>>([&]() -> Result<std::optional<std::string>> {
        WHEELYARD_ASSIGN(const auto known, lease(claim));
        if (known && known->task == id && known->state == "ended") return std::nullopt;
        WHEELYARD_ASSIGN(LeaseRow held, held_lease(id, claim));
        return std::move(held.target_index);
    });
}

Result<std::optional<Grant>> TaskStore::find_grant(std::string_view grant_id) {
    return look<std::optional<Grant>>([&]() -> Result<std::optional<Grant>> {
        WHEELYARD_ASSIGN(auto query,
                         database_.prepare("SELECT lease.grant_sha256, lease.token, lease.target_index, "
                                           "task.package, task.version, lease.until, lease.state FROM lease "
                                           "JOIN task ON task.id = lease.task WHERE lease.grant_id = ?",
                                           grant_id));
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return std::nullopt;
        return Grant{.secret_sha256 = query.text(0),
                     .owner = query.text(1),
                     .index = query.text(2),
                     .package = query.text(3),
                     .version = query.text(4),
                     .until = query.integer(5),
                     .is_over = query.text(6) != "held"};
    });
}

Status TaskStore::use_grant(std::string_view grant_id, std::string_view filename, std::string_view sha256) {
    return change<void>([&]() -> Status {
        WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT state, used_filename, used_sha256 FROM lease "
                                                       "WHERE grant_id = ?",
                                                       grant_id));
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row || query.text(0) != "held")
            return wire::fail("grant.over", "This grant has ended with its task's lease",
                              std::string(grant_id), "claim the task again");
        const std::string used = query.text(1);
        if (!used.empty() && (used != filename || query.text(2) != sha256))
            return wire::fail("grant.used", "The grant was used for another file", used,
                              "a task has one wheel; add another task for another wheel");
        return database_.run("UPDATE lease SET used_filename = ?, used_sha256 = ? WHERE grant_id = ?",
                             filename, sha256, grant_id);
    });
}

}  // namespace wheelyard::tasks
