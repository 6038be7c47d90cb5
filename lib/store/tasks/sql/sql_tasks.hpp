// The rows of the task queue in a database that speaks SQL: one set of statements for every engine. What an
// engine adds is its own folder's: its schema, in_transaction(), in_one_snapshot() and try_write().
//
// `Database` has the shape of lib/store/engine/sqlite/sqlite.hpp.
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
#include "lib/store/engine/columns.hpp"
#include "lib/store/tasks/sql/sql_builds.hpp"
#include "lib/store/tasks/task_rows.hpp"

namespace wheelyard::engine {

template <>
struct Kept<wire::TaskState> {
    static std::string_view written(wire::TaskState state) { return wire::task_state_text(state); }
    // The schema allows no other word; a task with one is never taken.
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

// A member of the uploaded source: empty where the source is the recipe's.
struct OfSource {
    std::string wire::UploadedSource::*member;
    std::string& operator()(TaskRow& task) const {
        if (!task.request.source) task.request.source.emplace();
        return *task.request.source.*member;
    }
    const std::string& operator()(const TaskRow& task) const {
        static const wire::UploadedSource none;
        return (task.request.source ? *task.request.source : none).*member;
    }
};

inline constexpr std::tuple task_columns{
    engine::Column{"id", &TaskRow::id},
    engine::Column{"index_name", engine::Part{&TaskRow::request, &wire::TaskRequest::index}},
    engine::Column{"package", engine::Part{&TaskRow::request, &wire::TaskRequest::package}},
    engine::Column{"version", engine::Part{&TaskRow::request, &wire::TaskRequest::version}},
    engine::Column{"python", engine::Part{&TaskRow::request, &wire::TaskRequest::python}},
    engine::Column{"accelerator", engine::Part{&TaskRow::request, &wire::TaskRequest::accelerator}},
    engine::Column{"source_index", OfSource{&wire::UploadedSource::index}},
    engine::Column{"source_filename", OfSource{&wire::UploadedSource::filename}},
    engine::Column{"source_sha256", OfSource{&wire::UploadedSource::sha256}},
    engine::Column{"state", &TaskRow::state},
    engine::Column{"reason", &TaskRow::reason},
    engine::Column{"asked_by", &TaskRow::asked_by},
    engine::Column{"approved_by", &TaskRow::approved_by},
    engine::Column{"asked", &TaskRow::asked},
    engine::Column{"changed", &TaskRow::changed},
    engine::Column{"attempts", &TaskRow::attempts},
    engine::Column{"agent", &TaskRow::agent},
    engine::Column{"token", &TaskRow::holder},
    engine::Column{"lease_until", &TaskRow::lease_until},
    engine::Column{"used_filename", &TaskRow::used_filename},
    engine::Column{"used_sha256", &TaskRow::used_sha256},
};

// `which`: what follows FROM task.
inline std::string select(std::string_view outcome, std::string_view which) {
    return "SELECT " + std::string(outcome) + ", " +
           engine::names_to_read(task_columns, engine::Shown::in_row_only, "task.") + " FROM task " +
           std::string(which);
}
// Without outcomes, which have up to 64 KiB: for many at once.
inline std::string select_rows(std::string_view which) {
    return select("''", which);
}

template <typename Statement>
TaskRow row_of(const Statement& row) {
    TaskRow task;
    if (auto outcome = io::parse_json(row.text(0))) task.outcome = *std::move(outcome);
    engine::read_row(row, task_columns, task, 1);
    if (task.request.source->index.empty()) task.request.source.reset();
    return task;
}
template <typename Statement>
Task task_of(const Statement& row) {
    return row_of(row);
}

template <typename Statement>
Result<std::vector<Task>> tasks_of(Statement query) {
    return engine::collect(query, task_of<Statement>);
}

// Says whether a column is one of `names` (nullopt: any), for "(? OR column IN (texts of ?))".
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

    Result<std::optional<TaskRow>> find(std::string_view id) const override {
        WHEELYARD_ASSIGN(auto query,
                         database_.prepare(sql::select("task.outcome_json", "WHERE task.id = ?"), id));
        return engine::first_of(query, sql::row_of<decltype(query)>);
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
    Result<std::vector<TaskRow>> claimed(const std::string& index) const override {
        WHEELYARD_ASSIGN(auto query,
                         database_.prepare(sql::select_rows("WHERE task.state = 'claimed' AND (? = '' OR "
                                                            "task.index_name = ?) ORDER BY task.number"),
                                           index, index));
        return engine::collect(query, sql::row_of<decltype(query)>);
    }
    Result<std::vector<Task>> late(base::UnixMicros now) const override {
        return database_
            .prepare(sql::select_rows("WHERE task.state = 'claimed' AND task.lease_until <= ?"), now)
            .and_then([](auto query) { return sql::tasks_of(std::move(query)); });
    }
    Result<bool> has_late(base::UnixMicros now) const override {
        return has_any("task WHERE state = 'claimed' AND lease_until <= ?", now);
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
            .and_then([](auto query) { return engine::first_of(query, sql::task_of<decltype(query)>); });
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
        return engine::insert_row(database_, "task", sql::task_columns, TaskRow{task}, {}, "outcome_json",
                                  std::string_view());
    }
    Status update(const Task& task) override {
        return database_.run_later(
            "UPDATE task SET state = ?, reason = ?, approved_by = ?, attempts = ?, changed = ?, lease_until "
            "= ? "
            "WHERE id = ?",
            wire::task_state_text(task.state), task.reason, task.approved_by, task.attempts, task.changed,
            task.lease_until, task.id);
    }
    Status set_outcome(std::string_view id, const std::string& json) override {
        return database_.run_later("UPDATE task SET outcome_json = ? WHERE id = ?", json, id);
    }
    Result<bool> claim(const TaskRow& task) override {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                "UPDATE task SET state = 'claimed', reason = '', attempts = ?, changed = ?, agent = ?, "
                "token = ?, lease_until = ?, used_filename = '', used_sha256 = '' WHERE id = ? AND "
                "state = 'queued' RETURNING number",
                task.attempts, task.changed, task.agent, task.holder, task.lease_until, task.id));
        return query.step();
    }
    Status renew(const TaskRow& task) override {
        return database_.run_later(
            "UPDATE task SET agent = ?, token = ?, lease_until = ?, used_filename = ?, used_sha256 = ? WHERE "
            "id = ?",
            task.agent, task.holder, task.lease_until, task.used_filename, task.used_sha256, task.id);
    }
    Status remove(std::string_view id) override {
        return database_.run_later("DELETE FROM task WHERE id = ?", id);
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
