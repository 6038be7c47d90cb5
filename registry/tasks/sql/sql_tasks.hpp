// The rows of the task queue in a database that speaks SQL: one set of statements for every engine. What an engine adds
// is its own folder's: its schema, in_transaction(), in_one_snapshot() and try_write().
//
// `Database` has the shape of registry/engine/sqlite/sqlite.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/tasks/task_rows.hpp"

namespace wheelyard::tasks {
namespace sql {

using base::Result;
using base::Status;
using wire::Task;

// The states of tasks that have not ended: the index open_task has the same list (schema.cpp).
inline constexpr std::string_view is_open = "state IN ('awaits_approval', 'queued', 'claimed')";
// "Asked for twice is one task."
inline constexpr std::string_view is_of_request =
    "task.index_name = ? AND task.package = ? AND task.version = ? AND task.python = ? AND "
    "task.accelerator = ? AND task.source_sha256 = ?";

inline constexpr std::array<std::string_view, 4> lease_words{"held", "ended", "over", "cancelled"};
inline std::string_view word_of(LeaseState state) {
    return lease_words[static_cast<std::size_t>(state)];
}
// The schema allows no other word; a lease with one is over.
inline LeaseState lease_state_of(std::string_view word) {
    for (const auto state : {LeaseState::held, LeaseState::ended, LeaseState::cancelled}) {
        if (word_of(state) == word) return state;
    }
    return LeaseState::over;
}

// Tasks with what their latest lease says. `which`: what follows FROM, of the tables `task` and `lease`.
inline std::string select(std::string_view outcome, std::string_view which) {
    return "SELECT task.id, task.index_name, task.package, task.version, task.python, task.accelerator, "
           "task.state, task.reason, task.asked_by, task.asked, task.changed, task.attempts, "
           "coalesce(lease.agent, ''), coalesce(lease.until, 0), coalesce(lease.log_bytes, 0), "
           "coalesce(lease.state, ''), " +
           std::string(outcome) +
           ", task.source_index, task.source_filename, task.source_sha256, task.approved_by" +
           " FROM task LEFT JOIN lease ON lease.task = task.id AND lease.number = task.attempts " +
           std::string(which);
}
// Without outcomes, which have up to 64 KiB: for many at once.
inline std::string select_rows(std::string_view which) {
    return select("''", which);
}

template <typename Statement>
Task task_of(const Statement& row) {
    Task task;
    task.id = row.text(0);
    task.request = {row.text(1), row.text(2), row.text(3), row.text(4), row.text(5)};
    if (!row.text(17).empty()) task.request.source = {row.text(17), row.text(18), row.text(19)};
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

template <typename Statement>
Result<std::vector<Task>> tasks_of(Statement query) {
    std::vector<Task> tasks;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return tasks;
        tasks.push_back(task_of(query));
    }
}

template <typename Statement>
Result<std::optional<Task>> one_task_of(Statement query) {
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return task_of(query);
}

template <typename Statement>
Result<std::optional<LeaseRow>> lease_of(Statement query) {
    WHEELYARD_ASSIGN(const bool row, query.step());
    if (!row) return std::nullopt;
    return LeaseRow{.claim = query.text(0),
                    .task = query.text(1),
                    .number = query.integer(2),
                    .agent = query.text(3),
                    .token = query.text(4),
                    .state = lease_state_of(query.view(5)),
                    .until = query.integer(6),
                    .target_index = query.text(7),
                    .grant_id = query.text(8),
                    .grant_sha256 = query.text(9),
                    .used_filename = query.text(10),
                    .used_sha256 = query.text(11),
                    .log_bytes = query.integer(12),
                    .log_pieces = query.integer(13)};
}
inline constexpr std::string_view select_lease =
    "SELECT claim, task, number, agent, token, state, until, target_index, grant_id, grant_sha256, "
    "used_filename, used_sha256, log_bytes, log_pieces FROM lease WHERE ";

// Whether a column is one of `names` (nullopt: any), for "(? OR column IN (texts of ?))".
struct SqlSet {
    explicit SqlSet(const std::optional<std::vector<std::string>>& names)
        : has_all(names ? 0 : 1),
          json(io::Json::array_of(names.value_or(std::vector<std::string>())).render()) {}
    std::int64_t has_all;
    std::string json;
};

}  // namespace sql

// `texts_of_json`: the SELECT of the texts in an array, which is its one parameter.
template <typename Database>
class SqlTasks : public TaskRows {
  protected:
    template <typename T>
    using Result = base::Result<T>;
    using Status = base::Status;
    using Task = wire::Task;

  public:
    SqlTasks(Database opened, std::string_view texts_of_json)
        : database_(std::move(opened)), texts_of_json_(texts_of_json) {}

    Result<std::optional<Task>> find(std::string_view id) const override {
        return database_.prepare(sql::select("task.outcome_json", "WHERE task.id = ?"), id)
            .and_then([](auto query) { return sql::one_task_of(std::move(query)); });
    }
    Result<std::vector<Task>> list(const TaskFilter& filter, std::string_view after,
                                   std::size_t limit) const override {
        const std::string_view state = filter.state ? wire::task_state_text(*filter.state) : "";
        const sql::SqlSet indexes(filter.indexes);
        const sql::SqlSet packages(filter.packages);
        return database_
            .prepare(
                sql::select_rows("WHERE (? = '' OR task.index_name = ?) AND (? = '' OR task.state = ?) AND "
                                 "(? OR task.index_name IN (" +
                                 texts_of_json_ + ")) AND (? OR task.package IN (" + texts_of_json_ +
                                 ")) AND task.number > coalesce((SELECT number FROM task WHERE id = ?), 0) "
                                 "ORDER BY task.number LIMIT ?"),
                filter.index, filter.index, state, state, indexes.has_all, indexes.json, packages.has_all,
                packages.json, after, static_cast<std::int64_t>(limit))
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<std::vector<Task>> queued(const std::string& index) const override {
        return database_
            .prepare(
                sql::select_rows("WHERE task.state = 'queued' AND task.index_name = ? ORDER BY task.number"),
                index)
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<std::int64_t> count_queued_until(const Task& task) const override {
        return database_.integer(
            "SELECT count(*) FROM task WHERE state = 'queued' AND index_name = ? AND number <= (SELECT "
            "number "
            "FROM task WHERE id = ?)",
            task.request.index, task.id);
    }
    Result<std::vector<Task>> lost(base::UnixMicros now) const override {
        return database_.prepare(sql::select_rows("WHERE lease.state = 'held' AND lease.until <= ?"), now)
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<bool> has_lost(base::UnixMicros now) const override {
        return has_any("lease WHERE state = 'held' AND until <= ?", now);
    }
    Result<std::vector<Task>> ended_before(base::UnixMicros time, std::size_t limit) const override {
        return database_
            .prepare(sql::select_rows("WHERE task.state IN ('done', 'failed', 'cancelled') AND "
                                      "task.changed < ? ORDER BY task.number LIMIT ?"),
                     time, static_cast<std::int64_t>(limit))
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<std::optional<Task>> find_open(const wire::TaskRequest& request) const override {
        return database_
            .prepare(sql::select_rows("WHERE " + std::string(sql::is_of_request) + " AND task." +
                                      std::string(sql::is_open)),
                     request.index, request.package, request.version, request.python, request.accelerator,
                     source_of(request).sha256)
            .and_then([](auto query) { return sql::one_task_of(std::move(query)); });
    }
    Result<bool> was_asked(const wire::TaskRequest& request) const override {
        return has_any("task WHERE " + std::string(sql::is_of_request), request.index, request.package,
                       request.version, request.python, request.accelerator, source_of(request).sha256);
    }
    Result<std::int64_t> count_open(std::string_view asked_by) const override {
        const std::string all = "SELECT count(*) FROM task WHERE " + std::string(sql::is_open);
        return asked_by.empty() ? database_.integer(all)
                                : database_.integer(all + " AND asked_by = ?", asked_by);
    }
    Result<std::int64_t> count_open_of_strangers() const override {
        return database_.integer(
            "SELECT count(*) FROM task WHERE " + std::string(sql::is_open) + " AND asked_by LIKE ?",
            std::string(stranger_prefix) + "%");
    }
    Status insert(const Task& task) override {
        const wire::UploadedSource source = source_of(task.request);
        return database_.run_later(
            "INSERT INTO task (id, index_name, package, version, python, accelerator, source_index, "
            "source_filename, source_sha256, state, reason, asked_by, approved_by, asked, changed, attempts, "
            "outcome_json) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '')",
            task.id, task.request.index, task.request.package, task.request.version, task.request.python,
            task.request.accelerator, source.index, source.filename, source.sha256,
            wire::task_state_text(task.state), task.reason, task.asked_by, task.approved_by, task.asked,
            task.changed, task.attempts);
    }
    Status update(const Task& task) override {
        return database_.run_later(
            "UPDATE task SET state = ?, reason = ?, approved_by = ?, attempts = ?, changed = ? WHERE id = ?",
            wire::task_state_text(task.state), task.reason, task.approved_by, task.attempts, task.changed,
            task.id);
    }
    Status set_outcome(std::string_view id, const std::string& json) override {
        return database_.run_later("UPDATE task SET outcome_json = ? WHERE id = ?", json, id);
    }
    Status remove(std::string_view id) override {
        WHEELYARD_TRY(database_.run_later(
            "DELETE FROM log_piece WHERE claim IN (SELECT claim FROM lease WHERE task = ?)", id));
        WHEELYARD_TRY(database_.run_later("DELETE FROM lease WHERE task = ?", id));
        return database_.run_later("DELETE FROM task WHERE id = ?", id);
    }

    Result<std::optional<LeaseRow>> lease(std::string_view claim) const override {
        return database_.prepare(std::string(sql::select_lease) + "claim = ?", claim)
            .and_then([](auto query) { return sql::lease_of(std::move(query)); });
    }
    Result<std::optional<LeaseRow>> lease_of_grant(std::string_view grant_id) const override {
        return database_.prepare(std::string(sql::select_lease) + "grant_id = ?", grant_id)
            .and_then([](auto query) { return sql::lease_of(std::move(query)); });
    }
    Status insert(const LeaseRow& lease) override {
        return database_.run_later(
            "INSERT INTO lease (claim, task, number, agent, token, state, until, target_index, grant_id, "
            "grant_sha256, used_filename, used_sha256, log_bytes, log_pieces) VALUES (?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, ?, ?)",
            lease.claim, lease.task, lease.number, lease.agent, lease.token, sql::word_of(lease.state),
            lease.until, lease.target_index, lease.grant_id, lease.grant_sha256, lease.used_filename,
            lease.used_sha256, lease.log_bytes, lease.log_pieces);
    }
    Status update(const LeaseRow& lease) override {
        return database_.run_later(
            "UPDATE lease SET token = ?, state = ?, until = ?, grant_sha256 = ?, used_filename = ?, "
            "used_sha256 = ?, log_bytes = ?, log_pieces = ? WHERE claim = ?",
            lease.token, sql::word_of(lease.state), lease.until, lease.grant_sha256, lease.used_filename,
            lease.used_sha256, lease.log_bytes, lease.log_pieces, lease.claim);
    }
    Status end_held(std::string_view task, LeaseState state) override {
        return database_.run_later("UPDATE lease SET state = ? WHERE task = ? AND state = 'held'",
                                   sql::word_of(state), task);
    }

    Status append_log(std::string_view claim, std::int64_t start, std::string_view bytes) override {
        return database_.run_later("INSERT INTO log_piece (claim, start, bytes) VALUES (?, ?, ?)", claim,
                                   start, typename Database::Bytes{bytes});
    }
    Result<std::string> read_log(std::string_view task, std::int64_t number, std::int64_t offset,
                                 std::size_t limit) const override {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                "SELECT log_piece.start, log_piece.bytes FROM log_piece JOIN lease ON lease.claim = "
                "log_piece.claim WHERE lease.task = ? AND lease.number = ? AND log_piece.start - ? < ? AND "
                "log_piece.start >= coalesce((SELECT max(piece.start) FROM log_piece AS piece WHERE "
                "piece.claim = lease.claim AND piece.start <= ?), 0) ORDER BY log_piece.start",
                task, number, offset, static_cast<std::int64_t>(limit), offset));
        std::string log;
        while (log.size() < limit) {
            WHEELYARD_ASSIGN(const bool row, query.step());
            if (!row) break;
            const std::int64_t start = query.integer(0);
            const std::string bytes = query.text(1);
            const auto skipped = static_cast<std::size_t>(std::max<std::int64_t>(offset - start, 0));
            if (skipped < bytes.size()) log += bytes.substr(skipped);
        }
        if (log.size() > limit) log.resize(limit);
        return log;
    }
    Result<std::int64_t> log_bytes(std::string_view task) const override {
        return database_.integer("SELECT coalesce(sum(log_bytes), 0) FROM lease WHERE task = ?", task);
    }

  protected:
    Database database_;

  private:
    static wire::UploadedSource source_of(const wire::TaskRequest& request) {
        return request.source.value_or(wire::UploadedSource{});
    }
    template <typename... Values>
    Result<bool> has_any(const std::string& from, const Values&... values) const {
        WHEELYARD_ASSIGN(const std::int64_t count,
                         database_.integer("SELECT count(*) FROM " + from, values...));
        return count > 0;
    }
    const std::string texts_of_json_;
};

}  // namespace wheelyard::tasks
