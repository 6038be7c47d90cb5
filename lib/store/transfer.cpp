#include "lib/store/transfer.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "lib/store/catalog/postgres/postgres_catalog.hpp"
#include "lib/store/catalog/sql/columns.hpp"
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"
#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"

namespace wheelyard::database {
namespace {

namespace fs = std::filesystem;
constexpr std::int64_t copy_ms = 3'600'000;  // of one statement
constexpr std::size_t rows_at_once = 200;    // 24 columns: within both engines' limits of parameters
bool is_nullable(std::string_view column) {
    return engine::may_be_null(catalog::sql::file_columns, column);
}

struct Columns {
    std::vector<std::string> names;
    std::size_t numbers = 0;  // the first ones
};

Columns columns_of(const CopiedTable& table) {
    Columns columns;
    const auto add = [&columns](std::string_view list) {
        if (list.empty()) return;
        for (const std::string_view name : base::split(list, ','))
            columns.names.emplace_back(name);
    };
    add(table.numbers);
    columns.numbers = columns.names.size();
    add(table.texts);
    return columns;
}

std::string select_of(const CopiedTable& table, const Columns& columns) {
    std::vector<std::string> selected = columns.names;
    for (std::string& name : selected) {
        if (is_nullable(name)) name = "coalesce(" + name + ", '')";
    }
    return "SELECT " + base::join(selected, ", ") + " FROM " + std::string(table.name) + " ORDER BY " +
           std::string(table.order);
}

// Every value is a text; `number` makes one a number.
std::string insert_of(const CopiedTable& table, const Columns& columns, std::size_t rows,
                      const std::string& number) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < columns.names.size(); ++i)
        values.push_back(i < columns.numbers             ? number
                         : is_nullable(columns.names[i]) ? "nullif(?, '')"
                                                         : "?");
    const std::string one = "(" + base::join(values, ", ") + ")";
    std::string sql =
        "INSERT INTO " + std::string(table.name) + " (" + base::join(columns.names, ", ") + ") VALUES " + one;
    for (std::size_t i = 1; i < rows; ++i)
        sql += ", " + one;
    return sql;
}

// Adds rows in groups.
template <typename To>
class Rows {
  public:
    Rows(const To& to, const CopiedTable& table, std::string number)
        : to_(to), table_(table), columns_(columns_of(table)), number_(std::move(number)) {}
    [[nodiscard]] const Columns& columns() const { return columns_; }
    template <typename Statement>
    base::Status add(const Statement& row) {
        for (std::size_t i = 0; i < columns_.names.size(); ++i)
            values_.push_back(row.text(static_cast<int>(i)));
        return values_.size() < rows_at_once * columns_.names.size() ? base::Status() : finish();
    }
    base::Status finish() {
        const std::size_t rows = values_.size() / columns_.names.size();
        if (rows == 0) return {};
        WHEELYARD_ASSIGN(auto insert, to_.prepare_list(insert_of(table_, columns_, rows, number_), values_));
        values_.clear();
        return insert.run();
    }

  private:
    const To& to_;
    const CopiedTable& table_;
    const Columns columns_;
    const std::string number_;
    std::vector<std::string> values_;
};

base::Status copy_table(const postgres::Database& from, const sqlite::Database& to,
                        const CopiedTable& table) {
    Rows<sqlite::Database> rows(to, table, "?");  // a column INTEGER takes the text of a number
    WHEELYARD_TRY(from.run_script("DECLARE copied NO SCROLL CURSOR FOR " + select_of(table, rows.columns())));
    while (true) {
        WHEELYARD_ASSIGN(auto fetch, from.prepare("FETCH 1000 FROM copied"));
        bool is_any = false;
        while (true) {
            WHEELYARD_ASSIGN(const bool is_row, fetch.step());
            if (!is_row) break;
            is_any = true;
            WHEELYARD_TRY(rows.add(fetch));
        }
        if (!is_any) break;
    }
    WHEELYARD_TRY(rows.finish());
    return from.run_script("CLOSE copied");
}

base::Status copy_table(const sqlite::Database& from, const postgres::Database& to,
                        const CopiedTable& table) {
    Rows<postgres::Database> rows(to, table, "CAST(CAST(? AS TEXT) AS BIGINT)");
    WHEELYARD_ASSIGN(auto select, from.prepare(select_of(table, rows.columns())));
    while (true) {
        WHEELYARD_ASSIGN(const bool is_row, select.step());
        if (!is_row) break;
        WHEELYARD_TRY(rows.add(select));
    }
    return rows.finish();
}

// Their rows come with the others.
constexpr std::array emptied{"DELETE FROM change_count", "DELETE FROM index_list", "DELETE FROM registry"};

base::Status check_nothing_happened(const postgres::Database& database) {
    WHEELYARD_ASSIGN(const std::int64_t events, database.integer("SELECT count(*) FROM event"));
    WHEELYARD_ASSIGN(const std::int64_t tokens, database.integer("SELECT count(*) FROM token"));
    if (events == 0 && tokens == 0) return {};
    return base::fail("backup.store_there", "This database contains a registry's catalog", {},
                      "restore into an empty database, and name that one in the configuration");
}

}  // namespace

std::vector<CopiedTable> copied_tables() {
    return {
        {"blob", "sha256", "size_bytes,unreferenced_since", "sha256"},
        {"event", "serial", "serial,time", "kind,index_name,project,filename,details_json,actor,reason"},
        {"project", "index_name, name", "", "index_name,name,status,status_reason"},
        {"index_rule", "index_name", "", "index_name,rule_json"},
        {"file", "id",
         "id,added_serial," + engine::names_of_kind<catalog::FileRow>(catalog::sql::file_columns, true),
         engine::names_of_kind<catalog::FileRow>(catalog::sql::file_columns, false)},
        {"tombstone", "index_name, filename", "time,may_return", "index_name,filename,sha256"},
        {"upstream_mark", "index_name, project, name", "yanked",
         "index_name,project,name,yanked_reason,state,state_reason"},
        {"token", "id", engine::names_of_kind<catalog::TokenRow>(catalog::sql::token_columns, true),
         engine::names_of_kind<catalog::TokenRow>(catalog::sql::token_columns, false)},
        {"index_list", "only_row", "only_row", "json"},
        {"change_count", "only_row", "only_row,count", ""},
        {"registry", "only_row", "only_row", "id"},
    };
}

base::Status copy_to_file(const postgres::Target& from, const fs::path& file) {
    WHEELYARD_TRY(catalog::open_sqlite_catalog(file, catalog::SqliteMode::alone));  // its tables
    WHEELYARD_ASSIGN(const auto to, sqlite::Database::open(file, sqlite::Database::Mode::read_write));
    WHEELYARD_ASSIGN(const auto live, postgres::Database::open(from, postgres::Database::Mode::read_only));
    const postgres::LongWork patience(live, copy_ms);
    WHEELYARD_ASSIGN(const auto snapshot, postgres::Transaction::begin_read(live));
    WHEELYARD_ASSIGN(auto transaction, sqlite::Transaction::begin_immediate(to));
    for (const char* const statement : emptied)
        WHEELYARD_TRY(to.run(statement));
    for (const CopiedTable& table : copied_tables())
        WHEELYARD_TRY(copy_table(live, to, table));
    WHEELYARD_TRY(transaction.commit());
    return base::fsync_directory(file.parent_path());
}

base::Status check_empty(const postgres::Target& target) {
    const auto found = catalog::find_postgres_catalog(target);
    if (!found) return found.error().kind == base::ErrorKind::missing ? base::Status() : found;
    WHEELYARD_ASSIGN(const auto database,
                     postgres::Database::open(target, postgres::Database::Mode::read_only));
    return check_nothing_happened(database);
}

base::Status copy_from_file(const fs::path& file, const postgres::Target& to) {
    WHEELYARD_TRY(catalog::open_postgres_catalog(to, postgres::Database::Mode::read_write));  // its tables
    WHEELYARD_ASSIGN(const auto from, sqlite::Database::open(file, sqlite::Database::Mode::read_only));
    WHEELYARD_ASSIGN(const auto database, postgres::Database::open(to, postgres::Database::Mode::read_write));
    const postgres::LongWork patience(database, copy_ms);
    WHEELYARD_ASSIGN(auto transaction,
                     postgres::Transaction::begin_locked(database, catalog::postgres_writer_lock));
    WHEELYARD_TRY(check_nothing_happened(database));
    for (const char* const statement : emptied)
        WHEELYARD_TRY(database.run(statement));
    for (const CopiedTable& table : copied_tables())
        WHEELYARD_TRY(copy_table(from, database, table));
    // The next serial and the next id come after these.
    WHEELYARD_TRY(
        database.run("SELECT setval(pg_get_serial_sequence('event', 'serial'), coalesce(max(serial), 0) + 1, "
                     "false) FROM event"));
    WHEELYARD_TRY(database.run(
        "SELECT setval(pg_get_serial_sequence('file', 'id'), coalesce(max(id), 0) + 1, false) FROM file"));
    return transaction.commit();
}

}  // namespace wheelyard::database
