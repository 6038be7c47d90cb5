// The databases of a registry: the catalog and the task queue, in its data folder or on a PostgreSQL server.
// A program or command makes one Store from its configuration and passes it on; nothing else knows what keeps
// the rows, or opens it by a name.
//
// It holds no connection. Each reader and writer is one, for one thread at a time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/engine/place.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/report_board.hpp"
#include "lib/store/tasks/build_store.hpp"
#include "lib/store/tasks/task_store.hpp"

namespace wheelyard::database {

class Store {
  public:
    explicit Store(Place place) : place_(std::move(place)) {}
    // A store of files in the folder.
    explicit Store(std::filesystem::path folder) : place_{std::move(folder)} {}

    // An error if there is no catalog.
    [[nodiscard]] base::Status find_catalog() const;
    // "catalog.missing", "catalog.too_old", "catalog.too_new".
    [[nodiscard]] base::Result<std::unique_ptr<catalog::Catalog>> reader() const;
    // Makes a catalog where there is none, and brings an older one up to date.
    [[nodiscard]] base::Result<std::unique_ptr<catalog::Catalog>> writer() const;
    // Catalog::index_list() of a catalog that may be missing, or older than this program; then empty.
    [[nodiscard]] base::Result<std::string> index_list() const;
    // Makes the queue where there is none. `clock` must outlive it.
    [[nodiscard]] base::Result<std::unique_ptr<tasks::TaskStore>> tasks(tasks::TaskRules rules,
                                                                        const base::Clock& clock) const;
    // Likewise, in the same database, with a connection of its own.
    [[nodiscard]] base::Result<std::unique_ptr<tasks::BuildStore>> builds(tasks::BuildLimits limits,
                                                                          const base::Clock& clock) const;

    // For `serve`: who else serves from this database, and which of them writes. One connection each.
    [[nodiscard]] base::Result<std::unique_ptr<nodes::NodeBoard>> node_board() const;
    [[nodiscard]] base::Result<std::unique_ptr<nodes::WriterLock>> writer_lock() const;
    // nullptr: no other node can show what this one was told.
    [[nodiscard]] base::Result<std::unique_ptr<nodes::ReportBoard>> report_board() const;

    // The local files of both databases; some may be missing.
    [[nodiscard]] std::vector<std::filesystem::path> files() const;
    // "backup.store_there": a catalog, or a part of one, is here.
    [[nodiscard]] base::Status check_empty() const;
    // Names of what is there and in no backup.
    [[nodiscard]] std::vector<std::string> left_out_of_backups() const;

    // A copy of the catalog, opened, that is not in force before keep_copy(). make_copy_of: of a registry's
    // catalog for a backup, made while others write; restore_copy_of: of a backup for a registry, brought up
    // to date.
    [[nodiscard]] base::Result<std::unique_ptr<catalog::Catalog>> make_copy_of(const Store& live) const;
    [[nodiscard]] base::Result<std::unique_ptr<catalog::Catalog>> restore_copy_of(const Store& backup) const;
    [[nodiscard]] base::Status keep_copy() const;
    [[nodiscard]] base::Status drop_copy() const;
    // Copies the catalog of `live`, which nobody changes meanwhile, into this database. "backup.store_there":
    // it has one.
    [[nodiscard]] base::Status take_all_of(const Store& live) const;
    [[nodiscard]] bool is_same_as(const Store& other) const;

  private:
    [[nodiscard]] std::filesystem::path catalog_file() const;
    [[nodiscard]] std::filesystem::path copy_file() const;
    [[nodiscard]] std::filesystem::path tasks_file() const;
    [[nodiscard]] std::vector<std::filesystem::path> catalog_files() const;
    Place place_;
};

}  // namespace wheelyard::database
