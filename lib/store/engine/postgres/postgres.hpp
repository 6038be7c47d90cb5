// PostgreSQL as values: connection, statement, transaction; the shape of lib/store/engine/sqlite/sqlite.hpp.
//
//     WHEELYARD_ASSIGN(auto query, database.prepare("SELECT serial FROM event WHERE kind = ?", kind));
//     while (true) {
//         WHEELYARD_ASSIGN(const bool row, query.step());
//         if (!row) break;
//         use(query.integer(0));
//     }
//
// Every call ends: each has a deadline of its own, after which the connection is given up. A Database without
// a connection connects at its next use; a SELECT outside of a transaction is repeated once when its
// connection is lost, and nothing else is.
//
// Errors carry the server's sentence and one of these codes: store.unreachable (nothing was changed),
// store.outcome_unknown (COMMIT had no answer), store.library, catalog.busy, catalog.disk_full, catalog.io,
// catalog.corrupt, catalog.not_writable, catalog.missing, catalog.constraint, catalog.failed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::postgres {

// For a column BYTEA. A text for any other column has what is no UTF-8, and NUL, replaced by U+FFFD: no
// column of ours holds them, so a search for such a name finds nothing.
struct Bytes {
    std::string_view value;
};

// A bound value: texts and bytes are sent in binary, numbers as text, so that the server infers their types.
struct Value {
    std::string bytes;
    bool is_number = false;
};

struct Target {
    std::string url;                      // or parameters; libpq reads both, service files and PG* too
    std::filesystem::path password_file;  // its first line; empty: libpq finds one (PGPASSFILE, ~/.pgpass)
};

struct Deadlines {
    std::int64_t connect_s = 3;          // of each address of each host
    std::int64_t statement_ms = 10'000;  // as long as SQLite waits for another writer
};

class Connection;  // postgres.cpp
struct Rows;       // postgres.cpp: what a statement answered

class Statement {
  public:
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;
    ~Statement();

    // True: a row is there; false: done. The first one sends the statement.
    [[nodiscard]] base::Result<bool> step();
    // For statements without rows.
    [[nodiscard]] base::Status run();
    // Columns of the current row, from 0. NULL is 0 and empty; a boolean is 0 or 1.
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string text(int column) const;
    // Until the next step() or the statement's end.
    [[nodiscard]] std::string_view view(int column) const;

  private:
    friend class Database;
    Statement(Connection& connection, std::string sql);
    void bind(Bytes value);
    void bind(std::string_view value);
    void bind(std::int64_t value);
    Connection* connection_;  // the Database outlives its statements
    std::string sql_;
    std::vector<Value> values_;
    std::unique_ptr<Rows> rows_;
    int row_ = -1;
};

class Database {
  public:
    using Bytes = postgres::Bytes;
    // one_session: as read_write, but never connects again by itself: for what belongs to a session, such as
    // a lock.
    enum class Mode { read_write, read_only, one_session };
    // Connects at once.
    [[nodiscard]] static base::Result<Database> open(const Target& target, Mode mode,
                                                     const Deadlines& deadlines = {});
    Database(Database&& other) noexcept;
    Database& operator=(Database&&) = delete;
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    ~Database();

    // `values` (texts, Bytes and integers) are bound to the `?`s in order.
    template <typename... Values>
    [[nodiscard]] base::Result<Statement> prepare(std::string_view sql, const Values&... values) const {
        Statement statement = compile(sql);
        (statement.bind(values), ...);
        return statement;
    }
    // As many texts as the statement has `?`s.
    [[nodiscard]] base::Result<Statement> prepare_list(std::string_view sql,
                                                       std::span<const std::string> values) const {
        Statement statement = compile(sql);
        for (const std::string& value : values)
            statement.bind(value);
        return statement;
    }
    template <typename... Values>
    [[nodiscard]] base::Status run(std::string_view sql, const Values&... values) const {
        WHEELYARD_ASSIGN(Statement statement, prepare(sql, values...));
        return statement.run();
    }
    // For a write whose rows nobody reads: in a transaction it is sent with the next statement that is waited
    // for, COMMIT at the latest, which then reports its failure.
    template <typename... Values>
    [[nodiscard]] base::Status run_later(std::string_view sql, const Values&... values) const {
        WHEELYARD_ASSIGN(Statement statement, prepare(sql, values...));
        return send_later(std::move(statement));
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
    // Says whether a notice of the channel came within the time, also one that came before. A hint: notices
    // that are sent while there is no connection are lost.
    [[nodiscard]] base::Result<bool> wait_notice(const std::string& channel, std::int64_t timeout_ms) const;
    // The number of connections so far: another number, another session.
    [[nodiscard]] std::int64_t session() const;

  private:
    friend class LongWork;
    friend class Transaction;
    explicit Database(std::unique_ptr<Connection> connection);
    [[nodiscard]] Statement compile(std::string_view sql) const;
    [[nodiscard]] base::Status send_later(Statement statement) const;
    std::unique_ptr<Connection> connection_;
};

// Another deadline for statements that take long by nature, while this object lives.
class LongWork {
  public:
    LongWork(const Database& database, std::int64_t statement_ms);
    LongWork(const LongWork&) = delete;
    LongWork& operator=(const LongWork&) = delete;
    ~LongWork();

  private:
    Connection& connection_;
    const std::int64_t before_ms_;
};

// Rolled back unless committed.
class Transaction {
  public:
    // Takes the advisory lock `key` before anything is read or written, in READ COMMITTED: each reader sees
    // the serials of these transactions in their order.
    [[nodiscard]] static base::Result<Transaction> begin_locked(const Database& database, std::int64_t key);
    // For statements that only read: all see one snapshot, and none waits for a writer.
    [[nodiscard]] static base::Result<Transaction> begin_read(const Database& database);
    Transaction(Transaction&& other) noexcept : connection_(std::exchange(other.connection_, nullptr)) {}
    Transaction& operator=(Transaction&&) = delete;
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();
    // "store.outcome_unknown": the answer did not come; look whether it happened before you repeat it.
    [[nodiscard]] base::Status commit();

  private:
    explicit Transaction(Connection& connection) : connection_(&connection) {}
    Connection* connection_;  // null once committed or moved from
};

// While nodes are upgraded one after the other, the newer ones migrate the tables that the older ones use: a
// program may use a newer schema than it knows, if that schema says so.
struct Schema {
    std::span<const char* const> steps;  // `steps[N - 1]` leads to version N
    // The oldest version whose programs can go on with the newest one. A step that only adds tables, indexes,
    // or columns with a default leaves it as it is; any other one raises it to its own number, and is refused
    // while a node runs.
    std::int64_t oldest_program = 1;
    [[nodiscard]] std::int64_t newest() const { return static_cast<std::int64_t>(steps.size()); }
};

// The table `schema_version` keeps the version of each part ("catalog", "tasks"). All missing steps are one
// transaction. "catalog.too_new": a newer program has migrated it, and this one cannot go on with that.
// "catalog.in_use": a step needs that no node runs. "store.encoding".
[[nodiscard]] base::Status migrate(const Database& database, std::string_view part, const Schema& schema);
// nullopt: the database has no such part.
[[nodiscard]] base::Result<std::optional<std::int64_t>> schema_version(const Database& database,
                                                                       std::string_view part);
// For readers: "catalog.missing", "catalog.too_old" or "catalog.too_new" unless this program can use it.
[[nodiscard]] base::Status check_schema_version(const Database& database, std::string_view part,
                                                const Schema& schema);
// Commits a transaction that changes no content: fails where a real change would.
[[nodiscard]] base::Status try_write(const Database& database, std::string_view part, std::int64_t lock);

}  // namespace wheelyard::postgres
