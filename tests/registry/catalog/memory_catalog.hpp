// A catalog of plain containers: what registry/catalog/catalog.hpp asks of an implementation, in its shortest form. The
// catalogs of one MemoryRows are the connections to one database.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/base/text/text.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/index_rule.hpp"

namespace wheelyard::catalog {

struct MemoryRows {
    using Name = std::pair<std::string, std::string>;  // an index, and the name of a file or a project there
    struct Held {
        FileRow row;
        Serial added = 0;
    };
    struct Buried {
        std::string sha256;
        bool may_return = false;
    };
    struct Blob {
        std::uint64_t size_bytes = 0;
        base::UnixMicros unreferenced_since = 0;
    };
    struct Content {
        std::map<Name, Held> files;
        std::map<Name, ProjectRow> projects;
        std::map<Name, Buried> tombstones;
        std::map<std::string, Blob, std::less<>> blobs;
        std::map<std::string, TokenRow, std::less<>> tokens;
        std::map<std::string, IndexRule> rules;
        std::string index_list;
        std::vector<Event> events;  // the serial of each is its position from 1
        std::int64_t changes = 0;
    };
    Content content;
    std::recursive_mutex mutex;  // held for a transaction, a snapshot or one read
};

class MemoryCatalog : public Catalog {
  public:
    explicit MemoryCatalog(std::shared_ptr<MemoryRows> rows) : rows_(std::move(rows)) {}

    base::Status try_write() override { return {}; }
    base::Result<std::int64_t> change_count() const override { return now()->changes; }
    base::Status in_one_snapshot(const std::function<base::Status()>& read) const override {
        const auto held = now();
        return read();
    }
    base::Result<Serial> last_serial() const override { return static_cast<Serial>(now()->events.size()); }
    base::Result<std::vector<Event>> events_after(Serial serial, std::size_t limit) const override {
        const auto rows = now();
        const auto first = std::min(static_cast<std::size_t>(serial), rows->events.size());
        const auto last = first + std::min(limit, rows->events.size() - first);
        return std::vector<Event>(rows->events.begin() + static_cast<std::ptrdiff_t>(first),
                                  rows->events.begin() + static_cast<std::ptrdiff_t>(last));
    }
    base::Result<std::vector<Event>> find_events(const EventFilter& filter,
                                                 const EventRange& range) const override {
        const auto has = [](std::string_view text, const std::string& part) {
            return base::ascii_lower(text).find(base::ascii_lower(part)) != std::string::npos;
        };
        const auto is = [](const std::string& text, const std::string& wanted) {
            return wanted.empty() || text == wanted;
        };
        std::vector<Event> found;
        for (Event event : std::vector<Event>(now()->events)) {
            if (event.serial <= range.after || event.serial >= range.before || event.time < filter.from ||
                event.time >= filter.until || !is(event.index, filter.index) ||
                !is(event.project, filter.project) || !is(event.filename, filter.filename) ||
                !has(event_kind_text(event.kind), filter.kind) || !has(event.actor, filter.who) ||
                (!has(event.project, filter.what) && !has(event.filename, filter.what)))
                continue;
            event.details_json.clear();
            found.push_back(std::move(event));
        }
        if (found.size() > range.limit && range.is_newest)
            found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(range.limit));
        found.resize(std::min(found.size(), range.limit));
        return found;
    }
    base::Status for_each_event(Serial after, Serial until, const std::function<base::Status(Event&)>& see,
                                EventParts parts) const override {
        for (const Event& kept : std::vector<Event>(now()->events)) {
            if (kept.serial <= after || kept.serial > until) continue;
            Event event = kept;
            if (parts == EventParts::of_pages) {
                if (event.kind != EventKind::file_deleted) event.details_json.clear();
                event.actor.clear();
                event.reason.clear();
            }
            WHEELYARD_TRY(see(event));
        }
        return {};
    }
    base::Result<std::string> index_list() const override { return now()->index_list; }
    base::Result<std::vector<std::string>> projects(std::string_view index) const override {
        std::vector<std::string> names;
        const auto rows = now();
        for (const auto& [name, row] : rows->projects) {
            if (name.first == index) names.push_back(name.second);
        }
        return names;
    }
    base::Result<std::vector<std::string>> indexes() const override {
        std::vector<std::string> names;
        const auto rows = now();
        for (const auto& [name, row] : rows->projects) {
            if (names.empty() || names.back() != name.first) names.push_back(name.first);
        }
        return names;
    }
    base::Result<std::vector<FileRow>> files(std::string_view index,
                                             std::string_view project) const override {
        auto found =
            rows_where([&](const FileRow& row) { return row.index == index && row.project == project; });
        std::stable_sort(found.begin(), found.end(),
                         [](const FileRow& a, const FileRow& b) { return a.version < b.version; });
        return found;
    }
    base::Result<std::vector<FileRow>> files_after(std::string_view index, std::string_view filename,
                                                   std::size_t limit,
                                                   std::optional<FileState> state) const override {
        auto found = rows_where([&](const FileRow& row) {
            return row.index == index && row.filename > filename && (!state || row.state == *state);
        });
        found.resize(std::min(found.size(), limit));
        return found;
    }
    base::Result<std::vector<ProjectHead>> project_heads(const std::string& index,
                                                         std::span<const std::string> names) const override {
        std::vector<ProjectHead> heads;
        const auto rows = now();
        for (const std::string& name : names) {
            const auto found = rows->projects.find(name_of(index, name));
            if (found == rows->projects.end()) continue;
            heads.push_back({found->second, files(index, name).value().size()});
        }
        return heads;
    }
    base::Status read_files_of_pages(const std::string& index, std::span<const PageFiles> pages,
                                     Serial up_to) const override {
        for (const PageFiles& page : pages) {
            read_page(index, page, up_to);
            if (page.files->empty()) read_page(index, page, newest_of_all);
        }
        return {};
    }
    base::Result<std::optional<FileRow>> file(std::string_view index,
                                              std::string_view filename) const override {
        const auto rows = now();
        const auto found = rows->files.find(name_of(index, filename));
        return found == rows->files.end() ? std::nullopt : std::optional(found->second.row);
    }
    base::Result<std::vector<Usage>> usage(std::string_view index) const override {
        std::map<std::string, Usage> by_name;
        for (const FileRow& row : rows_where([&](const FileRow& each) { return each.index == index; })) {
            Usage& sum = by_name[row.uploaded_by];
            sum.uploaded_by = row.uploaded_by;
            ++sum.files;
            sum.bytes += row.size_bytes;
        }
        std::vector<Usage> all;
        for (auto& [name, sum] : by_name)
            all.push_back(std::move(sum));
        return all;
    }
    base::Result<std::vector<ProjectUsage>> top_projects(std::string_view index,
                                                         std::size_t limit) const override {
        std::map<std::string, ProjectUsage> by_name;
        for (const FileRow& row : rows_where([&](const FileRow& each) { return each.index == index; })) {
            ProjectUsage& sum = by_name[row.project];
            sum.project = row.project;
            ++sum.files;
            sum.bytes += row.size_bytes;
            sum.newest = std::max(sum.newest, row.upload_time);
        }
        std::vector<ProjectUsage> all;
        for (auto& [name, sum] : by_name)
            all.push_back(std::move(sum));
        std::stable_sort(all.begin(), all.end(),
                         [](const ProjectUsage& a, const ProjectUsage& b) { return a.bytes > b.bytes; });
        all.resize(std::min(all.size(), limit));
        return all;
    }
    base::Result<Usage> quarantine_usage(std::string_view index) const override {
        Usage sum;
        for (const FileRow& row : rows_where([&](const FileRow& each) {
                 return each.index == index && each.state == FileState::quarantined;
             })) {
            ++sum.files;
            sum.bytes += row.size_bytes;
        }
        return sum;
    }
    base::Result<std::vector<DayUsage>> usage_by_day(std::string_view index,
                                                     base::UnixMicros since) const override {
        constexpr base::UnixMicros day_us = 86'400'000'000;
        std::map<std::int64_t, DayUsage> days;
        for (const FileRow& row : rows_where(
                 [&](const FileRow& each) { return each.index == index && each.upload_time >= since; })) {
            DayUsage& one = days[row.upload_time / day_us];
            one.day = row.upload_time / day_us;
            ++one.files;
            one.bytes += row.size_bytes;
        }
        std::vector<DayUsage> sums;
        for (const auto& [_, one] : days)
            sums.push_back(one);
        return sums;
    }
    base::Result<std::optional<ProjectRow>> project(std::string_view index,
                                                    std::string_view name) const override {
        const auto rows = now();
        const auto found = rows->projects.find(name_of(index, name));
        return found == rows->projects.end() ? std::nullopt : std::optional(found->second);
    }
    base::Result<std::optional<BlobRow>> blob(std::string_view sha256) const override {
        const auto rows = now();
        const auto found = rows->blobs.find(sha256);
        if (found == rows->blobs.end()) return std::nullopt;
        return blob_row(*found);
    }
    base::Result<std::vector<BlobRow>> blobs_after(std::string_view sha256,
                                                   std::size_t limit) const override {
        const auto rows = now();
        std::vector<BlobRow> found;
        for (auto at = rows->blobs.upper_bound(sha256); at != rows->blobs.end() && found.size() < limit; ++at)
            found.push_back(blob_row(*at));
        return found;
    }
    base::Result<std::vector<std::string>> evicted_blobs() const override {
        std::vector<std::string> hashes;
        const auto rows = now();
        for (const auto& [name, buried] : rows->tombstones) {
            const auto kept = rows->blobs.find(buried.sha256);
            const bool is_new = std::find(hashes.begin(), hashes.end(), buried.sha256) == hashes.end();
            if (buried.may_return && is_new && kept != rows->blobs.end() &&
                kept->second.unreferenced_since > 0)
                hashes.push_back(buried.sha256);
        }
        return hashes;
    }
    base::Result<std::vector<FileRow>> files_of_blob(std::string_view sha256) const override {
        return rows_where([&](const FileRow& row) { return refers(row, sha256); });
    }
    base::Result<std::vector<std::string>> faults() const override {
        std::vector<std::string> found;
        const auto rows = now();
        for (const auto& [name, held] : rows->files) {
            if (!rows->blobs.contains(held.row.sha256)) found.push_back(name.second);
        }
        return found;
    }
    base::Result<std::vector<TokenRow>> tokens() const override {
        std::vector<TokenRow> all;
        const auto rows = now();
        for (const auto& [id, row] : rows->tokens)
            all.push_back(row);
        std::stable_sort(all.begin(), all.end(),
                         [](const TokenRow& a, const TokenRow& b) { return a.created < b.created; });
        return all;
    }

  protected:
    base::Status in_transaction(const std::function<base::Result<bool>()>& work) override {
        const auto rows = now();
        const MemoryRows::Content before = *rows;
        const auto is_kept = work();
        if (is_kept && *is_kept) {
            ++rows->changes;
            return {};
        }
        *rows = before;
        return is_kept.map([](bool) {});
    }
    base::Result<Serial> append_event(const Event& event) override {
        const auto rows = now();
        rows->events.push_back(event);
        rows->events.back().serial = static_cast<Serial>(rows->events.size());
        return rows->events.back().serial;
    }
    base::Status insert_file(const FileRow& row, Serial added) override {
        const auto rows = now();
        rows->blobs[row.sha256] = {row.size_bytes, 0};
        rows->blobs[row.metadata_sha256] = {row.metadata_size_bytes, 0};
        if (!row.provenance_sha256.empty())
            rows->blobs[row.provenance_sha256] = {row.provenance_size_bytes, 0};
        if (!row.attestations_sha256.empty())
            rows->blobs[row.attestations_sha256] = {row.attestations_size_bytes, 0};
        rows->projects.try_emplace({row.index, row.project},
                                   ProjectRow{.index = row.index, .project = row.project});
        rows->tombstones.erase({row.index, row.filename});
        rows->files[{row.index, row.filename}] = {row, added};
        return {};
    }
    base::Status update_file(const FileRow& row) override {
        now()->files.at({row.index, row.filename}).row = row;
        return {};
    }
    base::Status remove_file(const FileRow& row, bool may_return, base::UnixMicros time) override {
        const auto rows = now();
        rows->tombstones[{row.index, row.filename}] = {row.sha256, may_return};
        rows->files.erase({row.index, row.filename});
        for (const std::string& sha256 :
             {row.sha256, row.metadata_sha256, row.provenance_sha256, row.attestations_sha256}) {
            const auto kept = rows->blobs.find(sha256);
            if (kept != rows->blobs.end() && !is_referenced(sha256)) kept->second.unreferenced_since = time;
        }
        return {};
    }
    base::Status update_project(const ProjectRow& row) override {
        now()->projects.at({row.index, row.project}) = row;
        return {};
    }
    base::Result<bool> forget_blob(const std::string& sha256) override {
        if (!is_referenced(sha256)) now()->blobs.erase(sha256);
        return !now()->blobs.contains(sha256);
    }
    base::Result<std::vector<IndexRule>> index_rules() const override {
        std::vector<IndexRule> all;
        const auto rows = now();
        for (const auto& [index, rule] : rows->rules)
            all.push_back(rule);
        return all;
    }
    base::Status write_rule(const IndexRule& rule) override {
        const auto rows = now();
        rows->rules[rule.index] = rule;
        if (is_default(rule)) rows->rules.erase(rule.index);
        return {};
    }
    base::Status write_index_list(const std::string& list) override {
        now()->index_list = list;
        return {};
    }
    base::Status insert_token(const TokenRow& row) override {
        if (now()->tokens.try_emplace(row.id, row).second) return {};
        return base::fail("catalog.constraint", "The ID is taken", row.id);
    }
    base::Status delete_token(std::string_view id) override {
        const auto rows = now();
        if (const auto found = rows->tokens.find(id); found != rows->tokens.end()) rows->tokens.erase(found);
        return {};
    }
    base::Status mark_revoked(std::string_view id, const Cause& cause) override {
        TokenRow& row = now()->tokens.find(id)->second;
        if (row.revoked) return {};
        row.revoked = true;
        row.revoked_by = cause.actor;
        row.revoked_at = cause.time;
        return {};
    }
    base::Result<std::optional<NameHolder>> name_holder(std::string_view index,
                                                        std::string_view filename) const override {
        const auto rows = now();
        const auto found = rows->files.find(name_of(index, filename));
        if (found == rows->files.end()) return std::nullopt;
        return NameHolder{found->second.row.sha256, found->second.added};
    }
    base::Result<std::optional<Tombstone>> tombstone(std::string_view index,
                                                     std::string_view filename) const override {
        const auto rows = now();
        const auto found = rows->tombstones.find(name_of(index, filename));
        if (found == rows->tombstones.end()) return std::nullopt;
        return Tombstone{found->second.sha256, found->second.may_return};
    }
    base::Result<std::vector<std::string>> deleted_names(std::string_view index,
                                                         std::string_view begin) const override {
        const auto rows = now();
        std::vector<std::string> names;
        for (const auto& [name, buried] : rows->tombstones) {
            if (name.first == index && !buried.may_return &&
                base::ascii_lower(name.second).starts_with(begin))
                names.push_back(name.second);
        }
        return names;
    }
    base::Result<std::vector<std::string>> filenames_of_version(std::string_view index,
                                                                std::string_view project,
                                                                std::string_view begin) const override {
        std::vector<std::string> names;
        for (const FileRow& row : rows_where([&](const FileRow& each) {
                 return each.index == index && each.project == project && each.version.starts_with(begin);
             }))
            names.push_back(row.filename);
        return names;
    }
    base::Result<bool> has_project(std::string_view index, std::string_view name) const override {
        return now()->projects.contains(name_of(index, name));
    }

  private:
    // The content, locked while this is there.
    class Locked {
      public:
        explicit Locked(MemoryRows& rows) : lock_(rows.mutex), content_(rows.content) {}
        MemoryRows::Content* operator->() const { return &content_; }
        MemoryRows::Content& operator*() const { return content_; }

      private:
        std::unique_lock<std::recursive_mutex> lock_;
        MemoryRows::Content& content_;
    };
    [[nodiscard]] Locked now() const { return Locked(*rows_); }

    void read_page(const std::string& index, const PageFiles& page, Serial up_to) const {
        page.files->clear();
        const auto rows = now();
        for (const auto& [name, held] : rows->files) {
            if (name.first != index || held.row.project != page.project || held.added > up_to) continue;
            FileRow& row = page.files->emplace_back(held.row);
            row.uploaded_by.clear();
            row.state_reason.clear();
            row.pinned = false;
            keep_offered_metadata(row);
        }
    }
    static MemoryRows::Name name_of(std::string_view index, std::string_view name) {
        return {std::string(index), std::string(name)};
    }
    static bool refers(const FileRow& row, std::string_view sha256) {
        return row.sha256 == sha256 || row.metadata_sha256 == sha256 || row.provenance_sha256 == sha256 ||
               row.attestations_sha256 == sha256;
    }
    [[nodiscard]] bool is_referenced(const std::string& sha256) const {
        return !rows_where([&](const FileRow& row) { return refers(row, sha256); }).empty();
    }
    [[nodiscard]] BlobRow blob_row(const std::pair<const std::string, MemoryRows::Blob>& kept) const {
        return {.sha256 = kept.first,
                .size_bytes = kept.second.size_bytes,
                .referenced = is_referenced(kept.first),
                .unreferenced_since = kept.second.unreferenced_since};
    }
    // Sorted by index and filename.
    [[nodiscard]] std::vector<FileRow> rows_where(
        const std::function<bool(const FileRow&)>& is_wanted) const {
        std::vector<FileRow> found;
        const auto rows = now();
        for (const auto& [name, held] : rows->files) {
            if (is_wanted(held.row)) found.push_back(held.row);
        }
        return found;
    }

    std::shared_ptr<MemoryRows> rows_;
};

}  // namespace wheelyard::catalog
