// The catalog's rows in a database that speaks SQL: one set of statements for every engine, in the words that
// all of them know. The members are in reading.hpp and writing.hpp. What an engine adds is its own folder's.
//
// `Database` has the shape of lib/store/engine/sqlite/sqlite.hpp. Every name column compares byte by byte.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::catalog {

// The catalog's list of indexes, empty where there is none.
template <typename Database>
[[nodiscard]] base::Result<std::string> read_list(const Database& database) {
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT json FROM index_list"));
    WHEELYARD_ASSIGN(const bool row, query.step());
    return row ? query.text(0) : std::string();
}

// An engine adds in_transaction(), in_one_snapshot(), try_write() and faults().
template <typename Database>
class SqlCatalog : public Catalog {
  public:
    explicit SqlCatalog(Database opened) : database_(std::move(opened)) {}
    base::Result<std::int64_t> change_count() const override;
    base::Result<Serial> last_serial() const override;
    base::Result<std::vector<Event>> events_after(Serial serial, std::size_t limit) const override;
    base::Result<std::vector<Event>> find_events(const EventFilter& filter,
                                                 const EventRange& range) const override;
    base::Status for_each_event(Serial after, Serial until, const std::function<base::Status(Event&)>& see,
                                EventParts parts) const override;
    base::Result<std::string> registry_id() const override;
    base::Result<std::string> index_list() const override;
    base::Result<std::vector<std::string>> projects(std::string_view index) const override;
    base::Result<std::vector<FileRow>> files(std::string_view index, std::string_view project) const override;
    base::Result<std::vector<FileRow>> files_after(std::string_view index, std::string_view filename,
                                                   std::size_t limit,
                                                   const FilesWanted& wanted) const override;
    base::Result<std::vector<ProjectHead>> project_heads(const std::string& index,
                                                         std::span<const std::string> names) const override;
    base::Status read_files_of_pages(const std::string& index, std::span<const PageFiles> pages,
                                     Serial up_to) const override;
    base::Result<std::optional<FileRow>> file(std::string_view index,
                                              std::string_view filename) const override;
    base::Result<std::vector<std::string>> indexes() const override;
    base::Result<std::vector<Usage>> usage(std::string_view index) const override;
    base::Result<std::vector<ProjectUsage>> top_projects(std::string_view index,
                                                         std::size_t limit) const override;
    base::Result<Usage> quarantine_usage(std::string_view index) const override;
    base::Result<std::vector<DayUsage>> usage_by_day(std::string_view index,
                                                     base::UnixMicros since) const override;
    base::Result<std::optional<ProjectRow>> project(std::string_view index,
                                                    std::string_view name) const override;
    base::Result<std::optional<BlobRow>> blob(std::string_view sha256) const override;
    base::Result<std::vector<std::string>> evicted_blobs() const override;
    base::Result<std::vector<BlobRow>> blobs_after(std::string_view sha256, std::size_t limit) const override;
    base::Result<std::vector<FileRow>> files_of_blob(std::string_view sha256) const override;
    base::Result<std::vector<FileRow>> marks(std::string_view index, std::string_view project) const override;
    base::Result<std::vector<TokenRow>> tokens() const override;

  protected:
    // What the rules of the rows find.
    [[nodiscard]] base::Result<std::vector<std::string>> faults_of_rows() const;
    // In a transaction that keeps its work.
    [[nodiscard]] base::Status count_change();
    base::Result<Serial> append_event(const Event& event) override;
    base::Status insert_file(const FileRow& row, Serial added) override;
    base::Status update_file(const FileRow& row) override;
    base::Status remove_file(const FileRow& row, bool may_return, base::UnixMicros time) override;
    base::Status write_mark(const FileRow& mark) override;
    base::Result<std::size_t> count_marks(std::string_view index) const override;
    base::Status write_project(const ProjectRow& row) override;
    base::Result<bool> forget_blob(const std::string& sha256) override;
    base::Result<std::vector<IndexRule>> index_rules() const override;
    base::Status write_rule(const IndexRule& rule) override;
    base::Status write_index_list(const std::string& list) override;
    base::Status write_registry_id(const std::string& id) override;
    base::Status insert_token(const TokenRow& row) override;
    base::Status delete_token(std::string_view id) override;
    base::Status mark_revoked(std::string_view id, const Cause& cause) override;
    base::Result<std::optional<NameHolder>> name_holder(std::string_view index,
                                                        std::string_view filename) const override;
    base::Result<std::optional<Tombstone>> tombstone(std::string_view index,
                                                     std::string_view filename) const override;
    base::Result<std::vector<std::string>> deleted_names(std::string_view index,
                                                         std::string_view begin) const override;
    base::Result<std::vector<std::string>> filenames_of_version(std::string_view index,
                                                                std::string_view project,
                                                                std::string_view version) const override;
    base::Result<bool> has_project(std::string_view index, std::string_view name) const override;

    Database database_;

  private:
    base::Status note_unreferenced(std::string_view sha256, base::UnixMicros time);
};

}  // namespace wheelyard::catalog
