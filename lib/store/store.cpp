#include "lib/store/store.hpp"

#include <string_view>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/user.hpp"
#include "lib/store/catalog/postgres/postgres_catalog.hpp"
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/postgres/postgres_board.hpp"
#include "lib/store/tasks/postgres/postgres_tasks.hpp"
#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"
#include "lib/store/transfer.hpp"

namespace wheelyard::database {

namespace fs = std::filesystem;
using catalog::Catalog;
using catalog::SqliteMode;
using postgres::Database;

namespace {

bool is_elsewhere(const Place& place) {
    return !place.url.empty();
}

postgres::Target target_of(const Place& place) {
    return {place.url, place.password_file};
}

}  // namespace

fs::path Store::catalog_file() const {
    return place_.folder / "catalog.sqlite";
}
fs::path Store::copy_file() const {
    return place_.folder / "catalog.sqlite.new";
}
fs::path Store::tasks_file() const {
    return place_.folder / "tasks.sqlite";
}

base::Status Store::find_catalog() const {
    if (is_elsewhere(place_)) return catalog::find_postgres_catalog(target_of(place_));
    WHEELYARD_TRY(base::file_size(catalog_file()));
    return {};
}

base::Result<std::unique_ptr<Catalog>> Store::reader() const {
    if (is_elsewhere(place_))
        return catalog::open_postgres_catalog(target_of(place_), Database::Mode::read_only);
    return catalog::open_sqlite_catalog(catalog_file(), SqliteMode::read_only);
}

base::Result<std::unique_ptr<Catalog>> Store::writer() const {
    if (is_elsewhere(place_))
        return catalog::open_postgres_catalog(target_of(place_), Database::Mode::read_write);
    return catalog::open_sqlite_catalog(catalog_file(), SqliteMode::read_write);
}

base::Result<std::string> Store::index_list() const {
    if (is_elsewhere(place_)) return catalog::read_postgres_index_list(target_of(place_));
    return catalog::read_sqlite_index_list(catalog_file());
}

base::Result<std::unique_ptr<tasks::TaskStore>> Store::tasks(tasks::TaskRules rules,
                                                             const base::Clock& clock) const {
    WHEELYARD_ASSIGN(auto rows, is_elsewhere(place_) ? tasks::open_postgres_tasks(target_of(place_))
                                                     : tasks::open_sqlite_tasks(tasks_file()));
    return std::make_unique<tasks::TaskStore>(std::move(rows), rules, clock);
}

base::Result<std::unique_ptr<tasks::BuildStore>> Store::builds(tasks::BuildLimits limits,
                                                               const base::Clock& clock) const {
    WHEELYARD_ASSIGN(auto rows, is_elsewhere(place_) ? tasks::open_postgres_builds(target_of(place_))
                                                     : tasks::open_sqlite_builds(tasks_file()));
    return std::make_unique<tasks::BuildStore>(std::move(rows), limits, clock);
}

base::Result<std::unique_ptr<nodes::NodeBoard>> Store::node_board() const {
    if (is_elsewhere(place_)) return nodes::open_postgres_board(target_of(place_));
    return std::make_unique<nodes::AloneBoard>();
}

base::Result<std::unique_ptr<nodes::WriterLock>> Store::writer_lock() const {
    if (is_elsewhere(place_)) return nodes::open_postgres_lock(target_of(place_));
    return std::make_unique<nodes::AloneLock>();
}

base::Result<std::unique_ptr<nodes::ReportBoard>> Store::report_board() const {
    if (is_elsewhere(place_)) return nodes::open_postgres_reports(target_of(place_));
    return nullptr;
}

std::vector<fs::path> Store::catalog_files() const {
    return sqlite::file_set(catalog_file());
}

base::Status Store::check_empty() const {
    for (const fs::path& part : catalog_files()) {
        std::error_code ignored;
        if (fs::exists(part, ignored))
            return base::fail("backup.store_there", "This folder contains a registry or parts of one",
                              part.string(),
                              "restore into a new folder, and name that one in the configuration");
    }
    return is_elsewhere(place_) ? database::check_empty(target_of(place_)) : base::Status();
}

std::vector<fs::path> Store::files() const {
    if (is_elsewhere(place_)) return {};
    std::vector<fs::path> all = catalog_files();
    const std::vector<fs::path> of_tasks = sqlite::file_set(tasks_file());
    all.insert(all.end(), of_tasks.begin(), of_tasks.end());
    return all;
}

std::vector<std::string> Store::left_out_of_backups() const {
    if (is_elsewhere(place_)) return {"tasks"};
    std::error_code ignored;
    if (!fs::exists(tasks_file(), ignored)) return {};
    return {tasks_file().filename().string()};
}

base::Result<std::unique_ptr<Catalog>> Store::make_copy_of(const Store& live) const {
    WHEELYARD_TRY(drop_copy());  // of a run that was killed, or of an earlier try
    WHEELYARD_TRY(is_elsewhere(live.place_) ? copy_to_file(target_of(live.place_), copy_file())
                                            : catalog::copy_sqlite_catalog(live.catalog_file(), copy_file()));
    return catalog::open_sqlite_catalog(copy_file(), SqliteMode::read_only);
}

base::Result<std::unique_ptr<Catalog>> Store::restore_copy_of(const Store& backup) const {
    constexpr std::size_t piece_bytes = base::mib;
    constexpr mode_t owner_alone = 0600;
    WHEELYARD_TRY(drop_copy());  // of a run that was killed
    WHEELYARD_ASSIGN(const auto saved, base::acting_as(base::FileUser::caller, [&] {
                         return base::FileReader::open(backup.catalog_file());
                     }));
    WHEELYARD_ASSIGN(auto copy, base::FileReplacement::begin(copy_file(), owner_alone));
    WHEELYARD_TRY(
        base::for_each_piece(saved, piece_bytes, [&](std::string_view piece) { return copy.write(piece); }));
    WHEELYARD_TRY(copy.commit());
    // An older program may have written the backup: the copy is migrated, the backup stays unchanged.
    return catalog::open_sqlite_catalog(copy_file(), SqliteMode::alone);
}

base::Status Store::keep_copy() const {
    if (!is_elsewhere(place_)) return base::rename_durably(copy_file(), catalog_file());
    WHEELYARD_TRY(copy_from_file(copy_file(), target_of(place_)));
    return drop_copy();
}

base::Status Store::drop_copy() const {
    return sqlite::remove_database(copy_file());
}

base::Status Store::take_all_of(const Store& live) const {
    // The folder may be the one that has the catalog of `live`.
    WHEELYARD_TRY(is_elsewhere(place_) ? database::check_empty(target_of(place_)) : check_empty());
    WHEELYARD_TRY(make_copy_of(live));
    return keep_copy();
}

bool Store::is_same_as(const Store& other) const {
    if (is_elsewhere(place_) || is_elsewhere(other.place_)) return place_.url == other.place_.url;
    return place_.folder == other.place_.folder;
}

}  // namespace wheelyard::database
