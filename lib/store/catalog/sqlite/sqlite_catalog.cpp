#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"

#include <system_error>
#include <utility>

#include "lib/base/process/user.hpp"
#include "lib/store/catalog/sql/reading.hpp"
#include "lib/store/catalog/sql/writing.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"

namespace wheelyard::catalog {
namespace {

using sqlite::Database;
using sqlite::Transaction;

class SqliteCatalog final : public SqlCatalog<Database> {
  public:
    SqliteCatalog(Database opened, bool merges) : SqlCatalog(std::move(opened)), merges_log_at_end_(merges) {}
    // After a clean stop the database file alone holds every row, even if a reader closes last.
    ~SqliteCatalog() override {
        if (merges_log_at_end_) database_.merge_log();
    }
    base::Status try_write() override { return sqlite::try_write(database_); }
    base::Status in_one_snapshot(const std::function<base::Status()>& read) const override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_read(database_));
        WHEELYARD_TRY(read());
        return transaction.commit();
    }
    base::Result<std::vector<std::string>> faults() const override {
        WHEELYARD_ASSIGN(auto integrity, database_.prepare("PRAGMA integrity_check"));
        WHEELYARD_ASSIGN(auto faults,
                         engine::collect(integrity, [](const auto& row) { return row.text(0); }));
        std::erase(faults, "ok");
        WHEELYARD_ASSIGN(auto keys, database_.prepare("PRAGMA foreign_key_check"));
        WHEELYARD_ASSIGN(const auto broken, engine::collect(keys, [](const auto& row) {
                             return "a row of " + row.text(0) + " refers to a row of " + row.text(2) +
                                    " that does not exist";
                         }));
        faults.insert(faults.end(), broken.begin(), broken.end());
        WHEELYARD_ASSIGN(const auto of_rows, faults_of_rows());
        faults.insert(faults.end(), of_rows.begin(), of_rows.end());
        return faults;
    }

  protected:
    base::Status in_transaction(const std::function<base::Result<bool>()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database_));
        WHEELYARD_ASSIGN(const bool is_kept, work());
        if (!is_kept) return {};
        WHEELYARD_TRY(count_change());
        return transaction.commit();
    }

  private:
    const bool merges_log_at_end_;
};

}  // namespace

base::Result<std::unique_ptr<Catalog>> open_sqlite_catalog(const std::filesystem::path& file,
                                                           SqliteMode mode) {
    const bool writes = mode != SqliteMode::read_only;
    WHEELYARD_ASSIGN(Database database,
                     Database::open(file, writes ? Database::Mode::read_write : Database::Mode::read_only));
    if (mode != SqliteMode::alone) WHEELYARD_TRY(database.keep_log());  // before any statement opens the log
    WHEELYARD_TRY(database.run("PRAGMA foreign_keys = ON"));
    if (writes) {
        // WAL: readers never wait for the writer. FULL: a commit is on the disk when it returns (WAL's NORMAL
        // may lose the last).
        WHEELYARD_TRY(database.run(mode == SqliteMode::alone ? "PRAGMA journal_mode = DELETE"
                                                             : "PRAGMA journal_mode = WAL"));
        WHEELYARD_TRY(database.run("PRAGMA synchronous = FULL"));
        WHEELYARD_TRY(sqlite::migrate(database, schema_steps(), "catalog", oldest_program));
    } else {
        WHEELYARD_TRY(
            sqlite::check_schema_version(database, static_cast<std::int64_t>(schema_steps().size())));
    }
    return std::make_unique<SqliteCatalog>(std::move(database), mode == SqliteMode::read_write);
}

base::Result<std::string> read_sqlite_index_list(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::string();
    WHEELYARD_ASSIGN(const Database database, Database::open(file, Database::Mode::read_only));
    WHEELYARD_TRY(database.keep_log());
    constexpr std::int64_t first_with_list = 5;
    WHEELYARD_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
    if (version < first_with_list) return std::string();
    return read_list(database);
}

base::Status copy_sqlite_catalog(const std::filesystem::path& file, const std::filesystem::path& to) {
    const auto open = [&]() -> base::Result<Database> {
        WHEELYARD_ASSIGN(Database database, Database::open(file, Database::Mode::read_only));
        WHEELYARD_TRY(database.keep_log());
        WHEELYARD_TRY(database.run("PRAGMA schema_version"));  // opens the log
        return database;
    };
    WHEELYARD_ASSIGN(const Database database, base::acting_as(base::FileUser::owner, open));
    return database.copy_to(to);
}

}  // namespace wheelyard::catalog
