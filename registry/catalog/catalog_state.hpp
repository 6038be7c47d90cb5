// Shared by catalog.cpp (reading, adding), changes.cpp (later changes) and shown.cpp (inheritance).
// Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/catalog/catalog.hpp"
#include "registry/catalog/sqlite.hpp"

namespace wheelyard::catalog {

struct Catalog::State {
    Database database;
    bool merges_log_at_end = false;

    State(Database opened, bool merges) : database(std::move(opened)), merges_log_at_end(merges) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    // After a clean stop the database file alone holds every row, even if a reader closes last.
    ~State() {
        if (merges_log_at_end) database.merge_log();
    }
};

// SELECT … FROM file … `where`: rows that file_of() reads.
[[nodiscard]] std::string select_files(std::string_view where);
[[nodiscard]] FileRow file_of(const Statement& query);

// All rows of a query, each through `read`.
template <typename Read>
auto collect(Statement& query, Read read) -> base::Result<std::vector<decltype(read(query))>> {
    std::vector<decltype(read(query))> rows;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return rows;
        rows.push_back(read(query));
    }
}

[[nodiscard]] base::Result<std::optional<FileRow>> find_file(const Database& database, std::string_view index,
                                                             std::string_view filename);
[[nodiscard]] base::Result<std::optional<ProjectRow>> find_project(const Database& database,
                                                                   std::string_view index,
                                                                   std::string_view name);
[[nodiscard]] base::Result<Inheritance> read_inheritance(const Database& database,
                                                         Readers readers = Readers::everyone);
[[nodiscard]] base::Result<std::optional<std::string>> find_source(const Database& database,
                                                                   const Inheritance& inheritance,
                                                                   const std::string& index,
                                                                   std::string_view project);
// What prevents adding a new name: nothing, itself, other bytes (here, or
// inherited under this name), a tombstone, or its project's status.
[[nodiscard]] base::Result<std::optional<Added>> find_earlier(const Database& database, const FileRow& row);
// Blobs, project and file row, inside the caller's transaction; `serial` is their event.
[[nodiscard]] base::Status insert_file(const Database& database, const FileRow& row, Serial serial);
// An event about a file: its details are the whole row.
[[nodiscard]] base::Result<Serial> append_event(const Database& database, EventKind kind, const FileRow& row,
                                                const Cause& cause);
// `about`: serial, kind and time are not read.
[[nodiscard]] base::Result<Serial> append_event(const Database& database, EventKind kind, const Event& about,
                                                const Cause& cause);

}  // namespace wheelyard::catalog
