// SQLite as values: connection, statement, transaction. sqlite.cpp is the only file that includes sqlite3.h.
//
//     WHEELYARD_ASSIGN(auto query, database.prepare("SELECT serial FROM event WHERE kind = ?", kind));
//     while (true) {
//         WHEELYARD_ASSIGN(const bool row, query.step());
//         if (!row) break;
//         use(query.integer(0));
//     }
//
// Errors carry SQLite's message and one of these codes: catalog.busy, catalog.disk_full, catalog.io,
// catalog.corrupt, catalog.not_writable, catalog.missing, catalog.constraint, catalog.failed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace wheelyard::sqlite {

// Every file that SQLite may keep for a database: the database itself, its log, the log's index, a journal.
[[nodiscard]] std::vector<std::filesystem::path> file_set(const std::filesystem::path& database);
// Removes them all; those that are missing are no error.
[[nodiscard]] base::Status remove_database(const std::filesystem::path& database);

// A cache of compiled, idle statements by their SQL, so that repeated queries compile once. Owned by a
// Database; statements return themselves.
class IdleStatements {
  public:
    IdleStatements() = default;
    IdleStatements(const IdleStatements&) = delete;
    IdleStatements& operator=(const IdleStatements&) = delete;
    ~IdleStatements();
    // nullptr: none that is idle.
    [[nodiscard]] sqlite3_stmt* take(std::string_view sql);
    void put_back(sqlite3_stmt* statement);

  private:
    std::multimap<std::string_view, sqlite3_stmt*> statements_;  // by their own texts
};

class Statement {
  public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();

    // True: a row is there; false: done.
    [[nodiscard]] base::Result<bool> step();
    // For statements without rows.
    [[nodiscard]] base::Status run();
    // Columns of the current row, from 0.
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string text(int column) const;
    // The same where SQLite has it, for what is used at once: until the next step() or the statement's end.
    [[nodiscard]] std::string_view view(int column) const;

  private:
    friend class Database;
    Statement(sqlite3* connection, sqlite3_stmt* statement, IdleStatements* idle)
        : connection_(connection), statement_(statement), idle_(idle) {}
    void bind(int position, std::string_view value);
    void bind(int position, std::int64_t value);
    void note(int result);  // the first failed bind, which step() reports
    sqlite3* connection_;   // the Database outlives its statements
    sqlite3_stmt* statement_;
    IdleStatements* idle_;
    int failed_ = 0;
};

class Database {
  public:
    using Bytes = std::string_view;  // a text may have any bytes
    enum class Mode { read_write, read_only };
    [[nodiscard]] static base::Result<Database> open(const std::filesystem::path& file, Mode mode);
    Database(Database&& other) noexcept;
    Database& operator=(Database&&) = delete;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    // `values` (texts and integers) are bound to the `?`s in order.
    template <typename... Values>
    [[nodiscard]] base::Result<Statement> prepare(std::string_view sql, const Values&... values) const {
        WHEELYARD_ASSIGN(Statement statement, compile(sql));
        int position = 0;
        (statement.bind(++position, values), ...);
        return statement;
    }
    // As many texts as the statement has `?`s.
    [[nodiscard]] base::Result<Statement> prepare_list(std::string_view sql,
                                                       std::span<const std::string> values) const {
        WHEELYARD_ASSIGN(Statement statement, compile(sql));
        int position = 0;
        for (const std::string& value : values)
            statement.bind(++position, value);
        return statement;
    }
    template <typename... Values>
    [[nodiscard]] base::Status run(std::string_view sql, const Values&... values) const {
        WHEELYARD_ASSIGN(Statement statement, prepare(sql, values...));
        return statement.run();
    }
    // As run(); an engine that is elsewhere sends it with the next statement.
    template <typename... Values>
    [[nodiscard]] base::Status run_later(std::string_view sql, const Values&... values) const {
        return run(sql, values...);
    }
    // The first column of the first row; an error when there is no row.
    template <typename... Values>
    [[nodiscard]] base::Result<std::int64_t> integer(std::string_view sql, const Values&... values) const {
        WHEELYARD_ASSIGN(Statement statement, prepare(sql, values...));
        WHEELYARD_ASSIGN(const bool row, statement.step());
        if (!row)
            return base::fail("catalog.failed", "A query that always has an answer had none",
                              std::string(sql));
        return statement.integer(0);
    }
    // Several statements without values: a schema.
    [[nodiscard]] base::Status run_script(const std::string& sql) const;
    // SQLite's online backup: a consistent copy while others write, durable when it returns. `to` must not
    // exist.
    [[nodiscard]] base::Status copy_to(const std::filesystem::path& to) const;
    // The write-ahead log stays beside the file when the last connection closes (SQLITE_FCNTL_PERSIST_WAL).
    // By itself SQLite removes it then, and a disk that failed while it was opened has it removed unmerged.
    [[nodiscard]] base::Status keep_log() const;
    // Writes what the log holds into the file, as far as no reader still needs the older pages; empties it
    // where that was all.
    void merge_log() const noexcept;
    [[nodiscard]] std::int64_t changes() const;  // rows changed by the last statement

  private:
    friend class Transaction;
    explicit Database(sqlite3* connection)
        : connection_(connection), idle_(std::make_unique<IdleStatements>()) {}
    [[nodiscard]] base::Result<Statement> compile(std::string_view sql) const;
    void roll_back() const noexcept;
    sqlite3* connection_;
    std::unique_ptr<IdleStatements> idle_;  // where statements know it, wherever the Database is moved to
};

// Rolled back unless committed.
class Transaction {
  public:
    // Takes the write lock at once.
    [[nodiscard]] static base::Result<Transaction> begin_immediate(const Database& database);
    // For statements that only read: all see one snapshot, and none waits for a writer (WAL).
    [[nodiscard]] static base::Result<Transaction> begin_read(const Database& database);
    Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    [[nodiscard]] base::Status commit();

  private:
    explicit Transaction(const Database& database) : database_(&database) {}
    const Database* database_;  // null once committed or moved from
};

// `steps[N - 1]` leads to version N (PRAGMA user_version). "catalog.too_new": a newer program has migrated
// it, and this one cannot go on with that. `what` names the database to people.
//
// `oldest_program`: the oldest version whose programs can go on with the newest one, as in
// lib/store/engine/postgres/postgres.hpp; 0: none. It is kept with the version (PRAGMA application_id), so
// that who takes back an upgrade keeps what came since.
[[nodiscard]] base::Status migrate(const Database& database, std::span<const char* const> steps,
                                   std::string_view what = "catalog", std::int64_t oldest_program = 0);
// For readers: "catalog.too_old" or "catalog.too_new" unless this program, whose version is `newest`, can use
// it.
[[nodiscard]] base::Status check_schema_version(const Database& database, std::int64_t newest);
// Commits a transaction that sets the version again, which changes no content: fails where a real change
// would.
[[nodiscard]] base::Status try_write(const Database& database);

}  // namespace wheelyard::sqlite
