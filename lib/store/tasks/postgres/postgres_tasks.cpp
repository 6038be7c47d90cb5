#include "lib/store/tasks/postgres/postgres_tasks.hpp"

#include <utility>

#include "lib/store/engine/postgres/postgres.hpp"
#include "lib/store/tasks/sql/sql_builds.hpp"
#include "lib/store/tasks/sql/sql_tasks.hpp"

namespace wheelyard::tasks {
namespace {

using base::Result;
using base::Status;
using postgres::Database;
using postgres::Transaction;

constexpr std::string_view part = "tasks";
constexpr std::int64_t writer_lock = 0x57595441;  // "WYTA"

class PostgresTasks final : public SqlTasks<Database> {
  public:
    explicit PostgresTasks(Database opened)
        : SqlTasks(std::move(opened), "SELECT jsonb_array_elements_text(CAST(CAST(? AS text) AS jsonb))") {}
    Status in_transaction(const std::function<Status()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_locked(database_, writer_lock));
        WHEELYARD_TRY(work());
        return transaction.commit();
    }
    Status in_one_snapshot(const std::function<Status()>& read) override {
        WHEELYARD_ASSIGN(const Transaction snapshot, Transaction::begin_read(database_));
        return read();
    }
    Status try_write() override { return postgres::try_write(database_, part, writer_lock); }
};

class PostgresBuilds final : public SqlBuilds<Database> {
  public:
    using SqlBuilds::SqlBuilds;
    Status in_transaction(const std::function<Status()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_locked(database_, writer_lock));
        WHEELYARD_TRY(work());
        return transaction.commit();
    }
    Status in_one_snapshot(const std::function<Status()>& read) override {
        WHEELYARD_ASSIGN(const Transaction snapshot, Transaction::begin_read(database_));
        return read();
    }
};

Result<Database> open_database(const postgres::Target& target) {
    WHEELYARD_ASSIGN(Database database, Database::open(target, Database::Mode::read_write));
    WHEELYARD_TRY(postgres::migrate(database, part, postgres_schema()));
    return database;
}

}  // namespace

Result<std::unique_ptr<TaskRows>> open_postgres_tasks(const postgres::Target& target) {
    WHEELYARD_ASSIGN(Database database, open_database(target));
    return std::make_unique<PostgresTasks>(std::move(database));
}

Result<std::unique_ptr<BuildRows>> open_postgres_builds(const postgres::Target& target) {
    WHEELYARD_ASSIGN(Database database, open_database(target));
    return std::make_unique<PostgresBuilds>(std::move(database));
}

}  // namespace wheelyard::tasks
