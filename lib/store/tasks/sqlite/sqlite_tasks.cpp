#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"

#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/store/tasks/sql/sql_builds.hpp"
#include "lib/store/tasks/sql/sql_tasks.hpp"

namespace wheelyard::tasks {
namespace {

using base::Result;
using base::Status;
using sqlite::Database;
using sqlite::Transaction;

class SqliteTasks final : public SqlTasks<Database> {
  public:
    explicit SqliteTasks(Database opened) : SqlTasks(std::move(opened), "SELECT value FROM json_each(?)") {}
    Status in_transaction(const std::function<Status()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database_));
        WHEELYARD_TRY(work());
        return transaction.commit();
    }
    Status in_one_snapshot(const std::function<Status()>& read) override {
        WHEELYARD_ASSIGN(const Transaction snapshot, Transaction::begin_read(database_));
        return read();
    }
    Status try_write() override { return sqlite::try_write(database_); }
};

class SqliteBuilds final : public SqlBuilds<Database> {
  public:
    using SqlBuilds::SqlBuilds;
    Status in_transaction(const std::function<Status()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database_));
        WHEELYARD_TRY(work());
        return transaction.commit();
    }
    Status in_one_snapshot(const std::function<Status()>& read) override {
        WHEELYARD_ASSIGN(const Transaction snapshot, Transaction::begin_read(database_));
        return read();
    }
};

Result<Database> open_database(const std::filesystem::path& file) {
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    WHEELYARD_ASSIGN(Database database, Database::open(file, Database::Mode::read_write));
    WHEELYARD_TRY(database.keep_log());  // before any statement can open it
    // As the catalog: a commit is on the disk when it returns.
    WHEELYARD_TRY(database.run("PRAGMA journal_mode = WAL"));
    WHEELYARD_TRY(database.run("PRAGMA synchronous = FULL"));
    // Debian's SQLite writes zeros over what is deleted, through the write-ahead log: logs are not secret.
    WHEELYARD_TRY(database.run("PRAGMA secure_delete = OFF"));
    WHEELYARD_TRY(sqlite::migrate(database, schema_steps(), "task queue", oldest_program));
    // After the migrations, which replace a table that others refer to.
    WHEELYARD_TRY(database.run("PRAGMA foreign_keys = ON"));
    return database;
}

}  // namespace

Result<std::unique_ptr<TaskRows>> open_sqlite_tasks(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(Database database, open_database(file));
    return std::make_unique<SqliteTasks>(std::move(database));
}

Result<std::unique_ptr<BuildRows>> open_sqlite_builds(const std::filesystem::path& file) {
    WHEELYARD_ASSIGN(Database database, open_database(file));
    return std::make_unique<SqliteBuilds>(std::move(database));
}

}  // namespace wheelyard::tasks
