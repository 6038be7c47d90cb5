// The rows of the builds in a database that speaks SQL: one set of statements for every engine, as
// sql_tasks.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/store/engine/columns.hpp"
#include "lib/store/tasks/build_rows.hpp"

namespace wheelyard::tasks {
namespace sql {

inline constexpr std::tuple build_columns{
    engine::Column{"index_name", engine::Part{&BuildRow::key, &BuildKey::index}},
    engine::Column{"site", engine::Part{&BuildRow::key, &BuildKey::site}},
    engine::Column{"id", engine::Part{&BuildRow::key, &BuildKey::id}},
    engine::Column{"package", &BuildRow::package},
    engine::Column{"is_over", &BuildRow::is_over},
    engine::Column{"changed", &BuildRow::changed},
    engine::Column{"document", &BuildRow::document},
    engine::Column{"log_bytes", &BuildRow::log_bytes},
    engine::Column{"log_pieces", &BuildRow::log_pieces},
};

// Pieces of a log (start, bytes), the first of which has `offset`: at most `limit` bytes from there.
template <typename Statement>
base::Result<std::string> log_of(Statement query, std::int64_t offset, std::size_t limit) {
    std::string log;
    while (log.size() < limit) {
        WHEELYARD_ASSIGN(const bool is_row, query.step());
        if (!is_row) break;
        const std::string bytes = query.text(1);
        const auto skipped = static_cast<std::size_t>(std::max<std::int64_t>(offset - query.integer(0), 0));
        if (skipped < bytes.size()) log += bytes.substr(skipped);
    }
    if (log.size() > limit) log.resize(limit);
    return log;
}

}  // namespace sql

template <typename Database>
class SqlBuilds : public BuildRows {
  protected:
    template <typename T>
    using Result = base::Result<T>;
    using Status = base::Status;

  public:
    explicit SqlBuilds(Database opened) : database_(std::move(opened)) {}

    Result<std::optional<BuildRow>> find(const BuildKey& key) const override {
        WHEELYARD_ASSIGN(auto rows,
                         select("index_name = ? AND site = ? AND id = ?", key.index, key.site, key.id));
        if (rows.empty()) return std::nullopt;
        return std::move(rows.front());
    }
    Result<std::vector<BuildRow>> open_of(const std::string& index, const std::string& site) const override {
        return select("index_name = ? AND site = ? AND is_over = 0 ORDER BY id", index, site);
    }
    Result<std::vector<BuildRow>> list(const std::string& index, const std::string& package,
                                       std::size_t limit) const override {
        return select("index_name = ? AND (? = '' OR package = ?) ORDER BY changed DESC, id LIMIT ?", index,
                      package, package, static_cast<std::int64_t>(limit));
    }
    Result<std::vector<BuildRow>> changed_before(base::UnixMicros time, WhichBuilds which,
                                                 std::size_t limit) const override {
        const std::int64_t is_over = which == WhichBuilds::all ? 0 : 1;
        const std::int64_t log_bytes = which == WhichBuilds::over_with_log ? 1 : 0;
        return select("changed < ? AND is_over >= ? AND log_bytes >= ? ORDER BY changed LIMIT ?", time,
                      is_over, log_bytes, static_cast<std::int64_t>(limit));
    }
    Result<BuildCounts> counts() const override {
        WHEELYARD_ASSIGN(const std::int64_t builds, database_.integer("SELECT count(*) FROM build"));
        WHEELYARD_ASSIGN(const std::int64_t bytes,
                         database_.integer("SELECT CAST(coalesce(sum(log_bytes), 0) AS BIGINT) FROM build"));
        return BuildCounts{builds, bytes};
    }
    Status put(const BuildRow& row) override {
        return engine::insert_row(database_, "build", sql::build_columns, row,
                                  engine::or_replace(sql::build_columns, "index_name, site, id"));
    }
    Status remove(const BuildKey& key) override {
        WHEELYARD_TRY(remove_log(key));
        return database_.run_later("DELETE FROM build WHERE index_name = ? AND site = ? AND id = ?",
                                   key.index, key.site, key.id);
    }
    Status remove_log(const BuildKey& key) override {
        return database_.run_later("DELETE FROM build_log WHERE index_name = ? AND site = ? AND build = ?",
                                   key.index, key.site, key.id);
    }
    Status append_log(const BuildKey& key, std::int64_t start, std::string_view bytes) override {
        return database_.run_later(
            "INSERT INTO build_log (index_name, site, build, start, bytes) VALUES (?, ?, ?, ?, ?)", key.index,
            key.site, key.id, start, typename Database::Bytes{bytes});
    }
    Result<std::string> read_log(const BuildKey& key, std::int64_t offset, std::size_t limit) const override {
        WHEELYARD_ASSIGN(
            auto query,
            database_.prepare(
                "SELECT start, bytes FROM build_log WHERE index_name = ? AND site = ? AND build = ? AND "
                "start - ? "
                "< ? AND start >= coalesce((SELECT max(piece.start) FROM build_log AS piece WHERE "
                "piece.index_name = ? AND piece.site = ? AND piece.build = ? AND piece.start <= ?), 0) ORDER "
                "BY "
                "start",
                key.index, key.site, key.id, offset, static_cast<std::int64_t>(limit), key.index, key.site,
                key.id, offset));
        return sql::log_of(std::move(query), offset, limit);
    }

  protected:
    Database database_;

  private:
    template <typename... Values>
    Result<std::vector<BuildRow>> select(std::string_view which, const Values&... values) const {
        WHEELYARD_ASSIGN(auto query, database_.prepare("SELECT " + engine::names_to_read(sql::build_columns) +
                                                           " FROM build WHERE " + std::string(which),
                                                       values...));
        return engine::collect(
            query, [](const auto& row) { return engine::row_of<BuildRow>(row, sql::build_columns); });
    }
};

}  // namespace wheelyard::tasks
