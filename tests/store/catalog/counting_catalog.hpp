// A catalog that counts the queries that read projects and their files.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/catalog/sql/reading.hpp"
#include "lib/store/catalog/sql/writing.hpp"
#include "lib/store/catalog/sqlite/sqlite_catalog.hpp"
#include "lib/store/engine/sqlite/sqlite.hpp"

namespace wheelyard::catalog {

class CountingCatalog final : public SqlCatalog<sqlite::Database> {
  public:
    CountingCatalog() : CountingCatalog(base::TempDir::make("counting").value()) {}
    base::Status try_write() override { return {}; }
    base::Status in_one_snapshot(const std::function<base::Status()>& read) const override { return read(); }
    base::Result<std::vector<std::string>> faults() const override { return faults_of_rows(); }
    base::Result<std::vector<ProjectHead>> project_heads(const std::string& index,
                                                         std::span<const std::string> names) const override {
        if (!names.empty()) ++queries;
        CHECK(names.size() <= max_projects_at_once);
        return SqlCatalog::project_heads(index, names);
    }
    base::Status read_files_of_pages(const std::string& index, std::span<const PageFiles> pages,
                                     Serial up_to) const override {
        if (!pages.empty()) ++queries;
        return SqlCatalog::read_files_of_pages(index, pages, up_to);
    }
    base::Result<std::vector<FileRow>> files(std::string_view index,
                                             std::string_view project) const override {
        ++queries;
        return SqlCatalog::files(index, project);
    }
    mutable int queries = 0;

  protected:
    base::Status in_transaction(const std::function<base::Result<bool>()>& work) override {
        WHEELYARD_ASSIGN(auto transaction, sqlite::Transaction::begin_immediate(database_));
        WHEELYARD_ASSIGN(const bool is_kept, work());
        return is_kept ? transaction.commit() : base::Status();
    }

  private:
    explicit CountingCatalog(base::TempDir dir) : SqlCatalog(open(dir)), dir_(std::move(dir)) {}
    static sqlite::Database open(const base::TempDir& dir) {
        auto database =
            sqlite::Database::open(dir.path() / "catalog.sqlite", sqlite::Database::Mode::read_write).value();
        REQUIRE(sqlite::migrate(database, schema_steps()));
        return database;
    }

    base::TempDir dir_;
};

}  // namespace wheelyard::catalog
