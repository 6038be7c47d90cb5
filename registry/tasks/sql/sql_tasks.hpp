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
#include <tuple>
#include <utility>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/engine/columns.hpp"
#include "registry/tasks/sql/sql_builds.hpp"
#include "registry/tasks/task_rows.hpp"

namespace wheelyard::engine {

template <>
struct Kept<tasks::LeaseState> {
    static constexpr std::array<std::string_view, 4> words{"held", "ended", "over", "cancelled"};
    static std::string_view written(tasks::LeaseState state) {
        return words[static_cast<std::size_t>(state)];
    }
    // The schema allows no other word; a lease with one is over.
    template <typename Query>
    static void read(const Query& query, int at, tasks::LeaseState& into) {
        const auto* const found = std::find(words.begin(), words.end(), query.view(at));
        into = found == words.end() ? tasks::LeaseState::over
                                    : static_cast<tasks::LeaseState>(found - words.begin());
    }
};
template <>
struct Kept<wire::TaskState> {
    static std::string_view written(wire::TaskState state) { return wire::task_state_text(state); }
    // The schema allows no other word; a task with one is never claimed.
    template <typename Query>
    static void read(const Query& query, int at, wire::TaskState& into) {
        into = wire::parse_task_state(query.view(at)).value_or(wire::TaskState::failed);
    }
};

}  // namespace wheelyard::engine

namespace wheelyard::tasks {
namespace sql {

using base::Result;
using base::Status;
using wire::Task;

// The states of tasks that have not ended: the index open_task has the same list (schema.cpp).
inline constexpr std::string_view is_open = "state IN ('awaits_approval', 'queued', 'claimed')";
inline constexpr std::string_view is_ended = "state IN ('done', 'failed', 'cancelled')";
// "Asked for twice is one task."
inline constexpr std::string_view is_of_request =
    "task.index_name = ? AND task.package = ? AND task.version = ? AND task.python = ? AND "
    "task.accelerator = ? AND task.source_sha256 = ?";

inline std::string_view word_of(LeaseState state) {
    return engine::Kept<LeaseState>::written(state);
}

inline constexpr std::tuple lease_columns{
    engine::Column{"claim", &LeaseRow::claim},
    engine::Column{"task", &LeaseRow::task},
    engine::Column{"number", &LeaseRow::number},
    engine::Column{"agent", &LeaseRow::agent},
    engine::Column{"token", &LeaseRow::token},
    engine::Column{"state", &LeaseRow::state},
    engine::Column{"until", &LeaseRow::until},
    engine::Column{"target_index", &LeaseRow::target_index},
    engine::Column{"grant_id", &LeaseRow::grant_id},
    engine::Column{"grant_sha256", &LeaseRow::grant_sha256},
    engine::Column{"used_filename", &LeaseRow::used_filename},
    engine::Column{"used_sha256", &LeaseRow::used_sha256},
    engine::Column{"log_bytes", &LeaseRow::log_bytes},
    engine::Column{"log_pieces", &LeaseRow::log_pieces},
};

// A member of the uploaded source: empty where the source is the recipe's.
struct OfSource {
    std::string wire::UploadedSource::*member;
    std::string& operator()(Task& task) const {
        if (!task.request.source) task.request.source.emplace();
        return *task.request.source.*member;
    }
    const std::string& operator()(const Task& task) const {
        static const wire::UploadedSource none;
        return (task.request.source ? *task.request.source : none).*member;
    }
};

inline constexpr std::tuple task_columns{
    engine::Column{"id", &Task::id},
    engine::Column{"index_name", engine::Part{&Task::request, &wire::TaskRequest::index}},
    engine::Column{"package", engine::Part{&Task::request, &wire::TaskRequest::package}},
    engine::Column{"version", engine::Part{&Task::request, &wire::TaskRequest::version}},
    engine::Column{"python", engine::Part{&Task::request, &wire::TaskRequest::python}},
    engine::Column{"accelerator", engine::Part{&Task::request, &wire::TaskRequest::accelerator}},
    engine::Column{"source_index", OfSource{&wire::UploadedSource::index}},
    engine::Column{"source_filename", OfSource{&wire::UploadedSource::filename}},
    engine::Column{"source_sha256", OfSource{&wire::UploadedSource::sha256}},
    engine::Column{"state", &Task::state},
    engine::Column{"reason", &Task::reason},
    engine::Column{"asked_by", &Task::asked_by},
    engine::Column{"approved_by", &Task::approved_by},
    engine::Column{"asked", &Task::asked},
    engine::Column{"changed", &Task::changed},
    engine::Column{"attempts", &Task::attempts},
};

// Tasks with what their latest lease says. `which`: what follows FROM, of the tables `task` and `lease`.
inline std::string select(std::string_view outcome, std::string_view which) {
    return "SELECT coalesce(lease.agent, ''), coalesce(lease.log_bytes, 0), CASE lease.state WHEN 'held' "
           "THEN lease.until ELSE 0 END, " +
           std::string(outcome) + ", " +
           engine::names_to_read(task_columns, engine::Shown::in_row_only, "task.") +
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
    task.agent = row.text(0);
    task.log_bytes = row.integer(1);
    task.lease_until = row.integer(2);
    if (auto outcome = io::parse_json(row.text(3))) task.outcome = *std::move(outcome);
    engine::read_row(row, task_columns, task, 4);
    if (task.request.source->index.empty()) task.request.source.reset();
    return task;
}

template <typename Statement>
Result<std::vector<Task>> tasks_of(Statement query) {
    return engine::collect(query, task_of<Statement>);
}
template <typename Statement>
Result<std::optional<Task>> one_task_of(Statement query) {
    return engine::first_of(query, task_of<Statement>);
}

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
            .prepare(sql::select_rows("WHERE task." + std::string(sql::is_ended) +
                                      " AND task.changed < ? ORDER BY task.number LIMIT ?"),
                     time, static_cast<std::int64_t>(limit))
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<std::vector<Task>> ended_since(const std::string& index, base::UnixMicros time,
                                          std::size_t limit) const override {
        return database_
            .prepare(sql::select_rows("WHERE task." + std::string(sql::is_ended) +
                                      " AND task.index_name = ? AND task.changed >= ? "
                                      "ORDER BY task.changed DESC, task.number DESC LIMIT ?"),
                     index, time, static_cast<std::int64_t>(limit))
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
        return engine::insert_row(database_, "task", sql::task_columns, task, {}, "outcome_json",
                                  std::string_view());
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
        return one_lease("claim = ?", claim);
    }
    Result<std::optional<LeaseRow>> lease_of_grant(std::string_view grant_id) const override {
        return one_lease("grant_id = ?", grant_id);
    }
    Status insert(const LeaseRow& lease) override {
        return engine::insert_row(database_, "lease", sql::lease_columns, lease);
    }
    Status update(const LeaseRow& lease) override {
        return engine::update_row(database_, "lease", sql::lease_columns, lease, "claim = ?", lease.claim);
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
        return sql::log_of(std::move(query), offset, limit);
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
    Result<std::optional<LeaseRow>> one_lease(std::string_view which, std::string_view value) const {
        WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT " + engine::names_to_read(sql::lease_columns) +
                                                           " FROM lease WHERE " + std::string(which),
                                                       value));
        return engine::first_of(
            query, [](const auto& row) { return engine::row_of<LeaseRow>(row, sql::lease_columns); });
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
