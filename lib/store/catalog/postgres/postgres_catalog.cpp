#include "lib/store/catalog/postgres/postgres_catalog.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/store/catalog/sql/reading.hpp"
#include "lib/store/catalog/sql/writing.hpp"
#include "lib/store/engine/postgres/postgres.hpp"

namespace wheelyard::catalog {
namespace {

using postgres::Database;
using postgres::Transaction;

constexpr std::string_view part = "catalog";
constexpr const char* changes = "wheelyard_changes";
constexpr std::int64_t long_reading_ms = 600'000;

class PostgresCatalog final : public SqlCatalog<Database> {
  public:
    using SqlCatalog::SqlCatalog;
    base::Status try_write() override { return postgres::try_write(database_, part, postgres_writer_lock); }
    base::Status in_one_snapshot(const std::function<base::Status()>& read) const override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_read(database_));
        WHEELYARD_TRY(read());
        return transaction.commit();
    }
    // The server itself reports pages that fail their checksums and enforces what refers to what.
    base::Result<std::vector<std::string>> faults() const override {
        const postgres::LongWork patience(database_, long_reading_ms);
        return faults_of_rows();
    }
    // A notice is a hint: the count is read after each, and once a second.
    base::Result<std::int64_t> wait_change(std::int64_t seen, std::int64_t timeout_ms) const override {
        constexpr std::int64_t between_looks_ms = 1'000;
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
        while (true) {
            WHEELYARD_ASSIGN(const std::int64_t count, change_count());
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
            if (count != seen || left.count() <= 0) return count;
            WHEELYARD_TRY(
                database_.wait_notice(changes, std::min<std::int64_t>(left.count(), between_looks_ms)));
        }
    }

  protected:
    base::Status in_transaction(const std::function<base::Result<bool>()>& work) override {
        WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_locked(database_, postgres_writer_lock));
        WHEELYARD_ASSIGN(const bool is_kept, work());
        if (!is_kept) return {};
        WHEELYARD_TRY(count_change());
        WHEELYARD_TRY(database_.run_later(std::string("NOTIFY ") + changes));
        return transaction.commit();
    }
};

}  // namespace

base::Result<std::unique_ptr<Catalog>> open_postgres_catalog(const postgres::Target& target,
                                                             Database::Mode mode) {
    WHEELYARD_ASSIGN(Database database, Database::open(target, mode));
    if (mode == Database::Mode::read_only)
        WHEELYARD_TRY(postgres::check_schema_version(database, part, postgres_schema()));
    else
        WHEELYARD_TRY(postgres::migrate(database, part, postgres_schema()));
    return std::make_unique<PostgresCatalog>(std::move(database));
}

base::Status find_postgres_catalog(const postgres::Target& target) {
    WHEELYARD_ASSIGN(const Database database, Database::open(target, Database::Mode::read_only));
    WHEELYARD_ASSIGN(const auto version, postgres::schema_version(database, part));
    if (version) return {};
    return base::fail({.code = "catalog.missing",
                       .sentence = "The database has no catalog",
                       .advice = "start wheelyard-registry serve once, or check [stores] database",
                       .kind = base::ErrorKind::missing});
}

base::Result<std::string> read_postgres_index_list(const postgres::Target& target) {
    WHEELYARD_ASSIGN(const Database database, Database::open(target, Database::Mode::read_only));
    WHEELYARD_ASSIGN(const auto version, postgres::schema_version(database, part));
    return version ? read_list(database) : std::string();
}

}  // namespace wheelyard::catalog
