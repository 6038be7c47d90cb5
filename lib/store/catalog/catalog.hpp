// The catalog: the published files of every index, and the append-only event log. What a change means is
// decided here, once; what keeps the rows is an implementation of the virtual functions (sqlite/, postgres/).
//
// Threads: a Catalog is one connection used by one thread at a time. The registry writes through one
// writer (lib/store/commit/writer.hpp); the indexer opens its own, which only reads (lib/store/store.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/simple/project_file.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::catalog {

using Serial = std::int64_t;  // of the global event log; 0: nothing has happened yet
inline constexpr Serial newest_of_all = std::numeric_limits<Serial>::max();

// A quarantined file keeps its name and bytes, but is neither listed nor served.
enum class FileState { active, quarantined };
[[nodiscard]] std::string_view file_state_text(FileState state);
[[nodiscard]] std::optional<FileState> parse_file_state(std::string_view text);

// Which files of an index; empty: all. `name_part`: those that have it in their names, where "-", "_" and "."
// are the same, and so are "A" and "a".
struct FilesWanted {
    std::optional<FileState> state = {};
    std::string name_part = {};
};

// PEP 792. archived: no new files; quarantined: no new files and none is listed; deprecated: like active,
// with a notice.
enum class ProjectStatus { active, archived, quarantined, deprecated };
[[nodiscard]] std::string_view project_status_text(ProjectStatus status);
[[nodiscard]] std::optional<ProjectStatus> parse_project_status(std::string_view text);

// One published (or once published) file of an index: `upload_time` is when it was committed, and the size and
// the digest are known. The digest of METADATA is empty in the row of a page that offers no `.metadata`. The
// base has what a page lists; the table of all is in file_members.hpp.
struct FileRow : simple::ProjectFile {
    std::string index = {};
    std::string project = {};  // normalized
    std::string version = {};  // normalized
    std::uint64_t metadata_size_bytes = 0;
    std::string uploaded_by = {};  // the token's name
    std::string facts_json = {};   // inspect::Facts and the findings as JSON (lib/wire/facts_json.hpp)
    FileState state = FileState::active;
    std::string state_reason = {};   // why it is quarantined
    bool pinned = false;             // protected from deletion and retention
    std::string metadata_name = {};  // METADATA's Name as written; empty: unknown
    std::uint64_t provenance_size_bytes = 0;
    std::uint64_t attestations_size_bytes = 0;
    // Not stored: an upstream may have one file in two spellings, of which each keeps its name here.
    bool is_upstreams = false;
    bool operator==(const FileRow&) const = default;
};

// Clears the metadata fields unless installers may read them instead of the file (PEP 658): a wheel's stay,
// and an sdist's if they hold for every wheel that is built from it (PEP 643).
void keep_offered_metadata(FileRow& row);

enum class EventKind {
    file_added,
    file_yanked,
    file_unyanked,
    file_deleted,  // details: the row as it was
    file_quarantined,
    file_released,
    file_promoted,  // of the index that the file came to
    file_pinned,
    file_unpinned,
    project_status_changed,  // details: {"format":"wheelyard.project-status/1","status":…,"reason":…}
    blobs_collected,         // no index; details: the blobs that gc removed
    index_changed,           // no project; details: the new rule of the index
    project_released,        // of an upstream's cache: others may supply the project
};
[[nodiscard]] std::string_view event_kind_text(EventKind kind);
[[nodiscard]] std::optional<EventKind> parse_event_kind(std::string_view text);

struct Event {
    Serial serial = 0;
    EventKind kind = EventKind::file_added;
    base::UnixMicros time = 0;
    std::string index;
    std::string project;
    std::string filename;
    std::string details_json;  // everything that rendering needs: the whole FileRow
    std::string actor = {};    // a token's name, or "local:USER" for a command on the data folder
    std::string reason = {};   // in the actor's words
};

// Which events are searched for; what is empty accepts all. `index`, `project`, `filename`: of exactly this
// name.
struct EventFilter {
    std::string who = {};     // part of the actor, in any case
    std::string people = {};  // or the actor is one of these, each between two spaces; only with `who`
    std::string kind = {};    // part of the kind's word, in any case
    std::string what = {};    // part of the project's or the file's name, in any case
    std::string index = {};
    std::string project = {};
    std::string filename = {};
    base::UnixMicros from = std::numeric_limits<base::UnixMicros>::min();
    base::UnixMicros until = std::numeric_limits<base::UnixMicros>::max();  // not this time itself
};
// A day ("2026-11-20", in UTC) or a time of RFC 3339 each, empty for none; the day `until` is whole. Error
// "audit.time".
[[nodiscard]] base::Status read_times(const std::string& from, const std::string& until, EventFilter& filter);
// The first or the last events with a serial between these two, neither included.
struct EventRange {
    Serial after = 0;
    Serial before = newest_of_all;
    std::size_t limit = 0;
    bool is_newest = false;
};

// Which members of events are read. of_pages: details only of deletions, without actor and reason. Details
// are most of a long log's bytes.
enum class EventParts { all, of_pages };

struct ProjectRow {
    std::string index;
    std::string project;  // normalized
    ProjectStatus status = ProjectStatus::active;
    std::string status_reason = {};
};

// project_closed: its status (ProjectRow) refuses uploads. variants_differ: version_variants.hpp.
enum class AddOutcome { added, already_there, name_taken, name_was_deleted, project_closed, variants_differ };
struct Added {
    AddOutcome outcome = AddOutcome::added;
    Serial serial = 0;              // the event that made the file visible (added and already_there)
    std::string sha256_there = {};  // name_taken: the bytes that have the name
    std::string index_there = {};   // name_taken: where, when the name is an inherited one
    std::string filename_there =
        {};  // name_taken, name_was_deleted: the name, when it is another spelling (wheel::spelling_key)
    base::Error why = {};  // variants_differ
    // Of the file that is there (added and already_there): marks count (marks.hpp).
    FileState state = FileState::active;
    std::string state_reason = {};
};

// Who changes something, why, and when; recorded permanently in the event.
struct Cause {
    std::string actor;
    std::string reason = {};
    base::UnixMicros time = 0;
};
struct FileName {
    std::string index;
    std::string filename;
};
enum class ChangeOutcome {
    changed,
    already_so,  // no change needed; repeating a command is not an error
    no_such_file,
    no_such_project,
    pinned,       // unpin it first
    quarantined,  // release it first
    name_taken,   // promotion: the other index has other bytes under this name, or another spelling of it
    name_was_deleted,  // promotion: the other index has deleted this name
    project_closed,    // promotion: the project's status there refuses new files
    would_publish,     // promotion: from a private index to a public one
    owned_name,        // promotion: an upstream's file, to an index that owns the name
    variants_differ,   // promotion: a variant wheel, and the version has wheels there that contradict it
    too_many_marks,    // of one upstream
    said_of_another,   // taken back for a file and said of its version (marks.hpp), or the other way round
};
struct Changed {
    ChangeOutcome outcome = ChangeOutcome::changed;
    Serial serial = 0;             // once this serial is visible, so is the change (changed and already_so)
    std::string project = {};      // normalized, where it is known
    std::string value_there = {};  // name_taken: the hash; project_closed: the status; variants_differ: why
    std::string filename = {};     // promotion: the refused one of several
};

// What the uploads of one name keep in an index.
struct Usage {
    std::string uploaded_by = {};
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;  // of the wheels
};

// What a project of its own keeps in an index.
struct ProjectUsage {
    std::string project;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;      // of the wheels
    base::UnixMicros newest = 0;  // upload
};

// The files of an index that were added on one day.
struct DayUsage {
    std::int64_t day = 0;  // since 1970, in UTC
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;  // of the wheels
};

// A row of `blob`, for gc and verify.
struct BlobRow {
    std::string sha256;
    std::uint64_t size_bytes = 0;
    bool referenced = false;
    base::UnixMicros unreferenced_since = 0;  // 0: not unreferenced
};

// Tokens are stored as SHA-256 of the secret; the secret itself is shown once.
struct TokenRow {
    std::string id;  // public part, "wy_3f9a…"
    std::string secret_sha256;
    std::string name;                   // who or what uses it
    std::vector<std::string> indexes;   // "*" for all
    std::vector<std::string> projects;  // normalized names or "*"
    std::vector<std::string> actions;   // "upload"
    base::UnixMicros created = 0;
    base::UnixMicros expires = 0;  // 0: never
    bool revoked = false;
    // The token's own audit: tokens' names, or "local:USER" for a command on the data folder.
    std::string created_by = {};
    std::string revoked_by = {};
    base::UnixMicros revoked_at = 0;
};

// A change of tokens, made of the rows that are there.
struct TokenChange {
    std::vector<TokenRow> added;
    std::vector<std::string> revoked;  // IDs; a token that is revoked keeps its first cause
    Cause cause;                       // of the revocations
};
using EditTokens = std::function<TokenChange(const std::vector<TokenRow>& rows)>;

// A file's new state, if `if_so` accepts the row as it is in the transaction.
struct StateChange {
    FileName name;
    FileState state;
    Cause cause;  // its reason is a quarantine's
    std::function<bool(const FileRow&)> if_so;
};

// A project, and how many files it has in any state.
struct ProjectHead {
    ProjectRow row;
    std::size_t files = 0;
};

// Where read_files_of_pages() puts the files of a project.
struct PageFiles {
    std::string project;
    std::vector<FileRow>* files;
};

// An event by which another program knows this history again: in another one the serial has another event, or
// none.
struct EventMark {
    Serial serial = 0;
    base::UnixMicros time = 0;  // 0: unknown
    std::string kind = {};      // its word
};
enum class HistoryOf { same, behind, other };  // `behind`: the catalog ends before the event

// Projects that one query names: SQLite has 32,766 values in a statement, and a plan of thousands of names is
// slow.
inline constexpr std::size_t max_projects_at_once = 1'000;

class Catalog {
  public:
    Catalog(const Catalog&) = delete;
    Catalog& operator=(const Catalog&) = delete;
    virtual ~Catalog() = default;

    // One transaction each, durable when it returns.
    [[nodiscard]] base::Result<Added> add_file(const FileRow& row);
    // One transaction for all; each row sees the ones before it. After an error none was added.
    [[nodiscard]] base::Result<std::vector<Added>> add_files(std::span<const FileRow> rows);
    // What add_file() would answer to a row with these names and this hash, without adding it; nullopt: it
    // would add it. A variant wheel without facts is not compared with the others of its version.
    [[nodiscard]] base::Result<std::optional<Added>> find_obstacle(const FileRow& row) const;
    // `name` may be a version, "six==1.17.0": all its files. In an upstream's index that is a mark (marks.hpp),
    // as what is said of a file that is not fetched. Files that are yanked or in quarantine for another reason
    // keep that; what is taken back is what was said of this name.
    [[nodiscard]] base::Result<Changed> set_yanked(const FileName& name, bool yanked, const Cause& cause);
    // Likewise. A quarantine for another reason takes the place of an earlier one. Only a row that `if_so` accepts is
    // changed.
    [[nodiscard]] base::Result<Changed> set_file_state(const FileName& name, FileState state,
                                                       const Cause& cause,
                                                       const std::function<bool(const FileRow&)>& if_so = {});
    // The same for files that are there, in one transaction; no mark changes. A file that a mark keeps in
    // quarantine is not released. One answer for each change.
    [[nodiscard]] base::Result<std::vector<Changed>> change_states(std::span<const StateChange> changes);
    [[nodiscard]] base::Result<Changed> set_pinned(const FileName& name, bool pinned, const Cause& cause);
    // Leaves a tombstone: the name is never used again. Its blobs stay until gc.
    [[nodiscard]] base::Result<Changed> delete_file(const FileName& name, const Cause& cause);
    // As delete_file(), for a fetched copy: the name may be used again, with the same bytes. Refuses a pinned
    // file and a quarantined one.
    [[nodiscard]] base::Result<Changed> evict(const FileName& name, const Cause& cause);
    [[nodiscard]] base::Result<Changed> set_project_status(const ProjectRow& wanted, const Cause& cause);
    // Only the event: who supplies a project is kept with the pages of upstreams.
    [[nodiscard]] base::Status note_release(const std::string& index, const std::string& project,
                                            const Cause& cause);
    // Adds the files of `index` to `to_index` as well; no bytes are copied. One transaction: all or none. The
    // events have the opposite order of `filenames`, so that the page of the first one is published last.
    [[nodiscard]] base::Result<Changed> promote_files(const std::string& index,
                                                      std::span<const std::string> filenames,
                                                      const std::string& to_index, const Cause& cause);
    // Deletes the rows of those blobs that no file refers to, with one event; returns them: the caller may
    // now unlink them.
    [[nodiscard]] base::Result<std::vector<std::string>> forget_blobs(const std::vector<std::string>& sha256s,
                                                                      const Cause& cause);
    // Replaces the rules of all indexes; one event for each changed rule. Removes the rules of indexes not
    // named, which stay private if they were. An index in `reasons` gets an event with its reason, also if
    // its rule is unchanged: something else of it was. `list` replaces the list of indexes in the same
    // transaction; empty: it stays.
    [[nodiscard]] base::Status set_index_rules(const std::vector<IndexRule>& rules, const Cause& cause,
                                               const std::map<std::string, std::string>& reasons = {},
                                               const std::string& list = {});
    [[nodiscard]] base::Status add_token(const TokenRow& row);
    // False: no such token. A revoked token stays revoked by the first cause.
    [[nodiscard]] base::Result<bool> revoke_token(std::string_view id, const Cause& cause);
    // Adds tokens and revokes others as one change of the rows that `edit` gets: no other process commits in
    // between.
    [[nodiscard]] base::Status replace_tokens(const EditTokens& edit);
    // Removes the rows of these tokens for good; unknown ones are none.
    [[nodiscard]] base::Status drop_tokens(const std::vector<std::string>& ids);
    // Another random registry_id(): what has the former one belongs to another catalog from then on.
    [[nodiscard]] base::Status renew_registry_id();
    // Runs `work`, which changes nothing here, while no other process changes this catalog. Keep it short.
    [[nodiscard]] base::Status exclusively(const std::function<base::Status()>& work);
    // Commits a transaction that changes no content: fails where a real change would.
    [[nodiscard]] virtual base::Status try_write() = 0;

    // The number of changes so far, those of tokens and rules too: a reader that finds the number it had
    // knows all.
    [[nodiscard]] virtual base::Result<std::int64_t> change_count() const = 0;
    // The same, but waits until it is not `seen`, for at most `timeout_ms`.
    [[nodiscard]] virtual base::Result<std::int64_t> wait_change(std::int64_t seen,
                                                                 std::int64_t timeout_ms) const;
    // Runs `read` in one read transaction: a consistent snapshot. Keep it short: the storage keeps what
    // changes meanwhile beside it.
    [[nodiscard]] virtual base::Status in_one_snapshot(const std::function<base::Status()>& read) const = 0;
    [[nodiscard]] virtual base::Result<Serial> last_serial() const = 0;
    [[nodiscard]] virtual base::Result<std::vector<Event>> events_after(Serial serial,
                                                                        std::size_t limit) const = 0;
    // In the order of their serials, without details.
    [[nodiscard]] virtual base::Result<std::vector<Event>> find_events(const EventFilter& filter,
                                                                       const EventRange& range) const = 0;
    // Those in (after, until] in order, read in pieces; the first error of `see` ends it. `see` may move from
    // the event.
    [[nodiscard]] virtual base::Status for_each_event(Serial after, Serial until,
                                                      const std::function<base::Status(Event&)>& see,
                                                      EventParts parts = EventParts::all) const = 0;
    // Random hexadecimal digits, which copies of this catalog have too.
    [[nodiscard]] virtual base::Result<std::string> registry_id() const = 0;
    // Without time and kind where the serial has no event.
    [[nodiscard]] base::Result<EventMark> event_at(Serial serial) const;
    [[nodiscard]] base::Result<HistoryOf> compare_history(const EventMark& seen) const;
    // As set_index_rules() had it; empty before the first one.
    [[nodiscard]] virtual base::Result<std::string> index_list() const = 0;
    [[nodiscard]] base::Result<Inheritance> inheritance(Readers readers = Readers::everyone) const;
    // The index whose files `index` shows for this project; nullopt: it shows no such project.
    [[nodiscard]] base::Result<std::optional<std::string>> source_of(const Inheritance& inheritance,
                                                                     const std::string& index,
                                                                     std::string_view project) const;
    // All projects that `index` shows, and all indexes of the readers that show any; sorted.
    [[nodiscard]] base::Result<std::vector<std::string>> shown_projects(const Inheritance& inheritance,
                                                                        const std::string& index) const;
    [[nodiscard]] base::Result<std::vector<std::string>> shown_indexes(const Inheritance& inheritance) const;
    // Sorted by name; and all files of one project, quarantined ones too, sorted by (version text, filename).
    [[nodiscard]] virtual base::Result<std::vector<std::string>> projects(std::string_view index) const = 0;
    [[nodiscard]] virtual base::Result<std::vector<FileRow>> files(std::string_view index,
                                                                   std::string_view project) const = 0;
    // The files of an index after `filename`, of all projects, sorted by filename, at most `limit`.
    [[nodiscard]] virtual base::Result<std::vector<FileRow>> files_after(
        std::string_view index, std::string_view filename, std::size_t limit,
        const FilesWanted& wanted = {}) const = 0;
    // Those of the projects that the index has, unsorted; at most max_projects_at_once names. One query.
    [[nodiscard]] virtual base::Result<std::vector<ProjectHead>> project_heads(
        const std::string& index, std::span<const std::string> names) const = 0;
    // As files(), unsorted and without the fields that pages do not show: who uploaded it, why it is
    // quarantined, whether it is pinned. Replaces the files of each page and reuses their capacity. The pages
    // are of different projects, at most max_projects_at_once. One query. `up_to`: without a project's files
    // that were added later, unless it has no others.
    [[nodiscard]] virtual base::Status read_files_of_pages(const std::string& index,
                                                           std::span<const PageFiles> pages,
                                                           Serial up_to = newest_of_all) const = 0;
    [[nodiscard]] virtual base::Result<std::optional<FileRow>> file(std::string_view index,
                                                                    std::string_view filename) const = 0;
    // That have projects of their own; sorted.
    [[nodiscard]] virtual base::Result<std::vector<std::string>> indexes() const = 0;
    [[nodiscard]] virtual base::Result<std::vector<Usage>> usage(std::string_view index) const = 0;
    // Those with the most bytes first, at most `limit`; and what is in quarantine, as one sum. Both read
    // every row of the index.
    [[nodiscard]] virtual base::Result<std::vector<ProjectUsage>> top_projects(std::string_view index,
                                                                               std::size_t limit) const = 0;
    [[nodiscard]] virtual base::Result<Usage> quarantine_usage(std::string_view index) const = 0;
    // Days with files that came at `since` or later, in order. Reads every row of the index.
    [[nodiscard]] virtual base::Result<std::vector<DayUsage>> usage_by_day(std::string_view index,
                                                                           base::UnixMicros since) const = 0;
    [[nodiscard]] virtual base::Result<std::optional<ProjectRow>> project(std::string_view index,
                                                                          std::string_view name) const = 0;
    // nullopt: no row, so nothing refers to it.
    [[nodiscard]] virtual base::Result<std::optional<BlobRow>> blob(std::string_view sha256) const = 0;
    // Wheels of files that were evicted, to which no row refers and whose blobs are still there.
    [[nodiscard]] virtual base::Result<std::vector<std::string>> evicted_blobs() const = 0;
    // The blobs after `sha256` in hash order, at most this many.
    [[nodiscard]] virtual base::Result<std::vector<BlobRow>> blobs_after(std::string_view sha256,
                                                                         std::size_t limit) const = 0;
    // Files whose bytes or METADATA are this blob, in all indexes; sorted by index and filename.
    [[nodiscard]] virtual base::Result<std::vector<FileRow>> files_of_blob(std::string_view sha256) const = 0;
    // Problems that the storage's own checks and the rules of the rows find; empty if none.
    [[nodiscard]] virtual base::Result<std::vector<std::string>> faults() const = 0;
    // The marks of a project of an upstream's index, sorted by name (marks.hpp).
    [[nodiscard]] virtual base::Result<std::vector<FileRow>> marks(std::string_view index,
                                                                   std::string_view project) const = 0;
    // Sorted by (created, id).
    [[nodiscard]] virtual base::Result<std::vector<TokenRow>> tokens() const = 0;

  protected:
    Catalog() = default;

    // Runs `work`, whose calls of the functions below are one transaction: durable on return, one more
    // change_count(). Undone if `work` returns false (nothing to keep) or an error.
    [[nodiscard]] virtual base::Status in_transaction(const std::function<base::Result<bool>()>& work) = 0;
    [[nodiscard]] virtual base::Result<Serial> append_event(
        const Event& event) = 0;  // its serial is not read
    // Blobs, project and row; takes the tombstone of the name away. `added`: its event.
    [[nodiscard]] virtual base::Status insert_file(const FileRow& row, Serial added) = 0;
    // Updates an existing file: whether and why it is yanked, its state, its pin.
    [[nodiscard]] virtual base::Status update_file(const FileRow& row) = 0;
    // The row becomes a tombstone; blobs to which no row refers any more are unreferenced since `time`.
    [[nodiscard]] virtual base::Status remove_file(const FileRow& row, bool may_return,
                                                   base::UnixMicros time) = 0;
    // Replaces the mark of this name; one that says nothing is removed.
    [[nodiscard]] virtual base::Status write_mark(const FileRow& mark) = 0;
    [[nodiscard]] virtual base::Result<std::size_t> count_marks(std::string_view index) const = 0;
    [[nodiscard]] virtual base::Status write_project(const ProjectRow& row) = 0;
    // Unless a row refers to the blob. Whether it is unknown now.
    [[nodiscard]] virtual base::Result<bool> forget_blob(const std::string& sha256) = 0;
    [[nodiscard]] virtual base::Result<std::vector<IndexRule>> index_rules() const = 0;
    [[nodiscard]] virtual base::Status write_rule(
        const IndexRule& rule) = 0;  // one that says nothing is removed
    [[nodiscard]] virtual base::Status write_index_list(const std::string& list) = 0;
    [[nodiscard]] virtual base::Status write_registry_id(const std::string& id) = 0;
    // "catalog.constraint": the ID is taken.
    [[nodiscard]] virtual base::Status insert_token(const TokenRow& row) = 0;
    [[nodiscard]] virtual base::Status delete_token(std::string_view id) = 0;
    // One that is revoked keeps its first cause.
    [[nodiscard]] virtual base::Status mark_revoked(std::string_view id, const Cause& cause) = 0;

    struct NameHolder {
        std::string sha256;
        Serial added = 0;
    };
    struct Tombstone {
        std::string sha256;
        bool may_return = false;
    };
    [[nodiscard]] virtual base::Result<std::optional<NameHolder>> name_holder(
        std::string_view index, std::string_view filename) const = 0;
    [[nodiscard]] virtual base::Result<std::optional<Tombstone>> tombstone(
        std::string_view index, std::string_view filename) const = 0;
    // Names in the index of deleted files that begin like this, in any case, and may not return.
    [[nodiscard]] virtual base::Result<std::vector<std::string>> deleted_names(
        std::string_view index, std::string_view begin) const = 0;
    // The files of all versions that equal this normalised one (PEP 440: 1.0 is 1.0.0), and a few others.
    [[nodiscard]] virtual base::Result<std::vector<std::string>> filenames_of_version(
        std::string_view index, std::string_view project, std::string_view version) const = 0;
    [[nodiscard]] virtual base::Result<bool> has_project(std::string_view index,
                                                         std::string_view name) const = 0;

  private:
    using Change = std::function<base::Result<Changed>()>;
    [[nodiscard]] base::Result<Changed> change(const Change& work);
    using EditFile = std::function<base::Result<Changed>(FileRow&)>;
    [[nodiscard]] base::Result<Changed> change_file(const FileName& name, const EditFile& edit);
    // The same for all files of a version, and for marks.
    using EditNamed = std::function<void(FileRow&)>;
    [[nodiscard]] base::Result<Changed> change_named(const FileName& name, EventKind kind, const Cause& cause,
                                                     const EditNamed& edit);
    [[nodiscard]] base::Result<Changed> save(EventKind kind, const FileRow& row, const Cause& cause);
    [[nodiscard]] base::Result<Changed> recorded(EventKind kind, const FileRow& row, const Cause& cause);
    [[nodiscard]] base::Result<Changed> bury(const FileRow& row, bool may_return, const Cause& cause);
    [[nodiscard]] base::Result<Changed> already_so(std::string project) const;
    [[nodiscard]] base::Result<Changed> promote(const FileName& name, const std::string& to_index,
                                                bool would_publish, const Cause& cause);
    [[nodiscard]] base::Result<Serial> record(EventKind kind, const FileRow& row, const Cause& cause);
    [[nodiscard]] base::Result<Serial> record(EventKind kind, Event about, const Cause& cause);
    [[nodiscard]] base::Status change_rule(const IndexRule& rule, const Cause& cause);
    [[nodiscard]] base::Result<std::optional<Added>> find_inherited(const FileRow& row) const;
    [[nodiscard]] base::Result<std::optional<Added>> find_other_spelling(const std::string& index,
                                                                         const FileRow& row) const;
    [[nodiscard]] base::Result<std::optional<std::string>> find_deleted_spelling(const FileRow& row) const;
    [[nodiscard]] base::Result<std::optional<Added>> find_contradiction(const FileRow& row) const;
};

[[nodiscard]] std::string render_file_row(const FileRow& row);
[[nodiscard]] base::Result<FileRow> parse_file_row(std::string_view json);
[[nodiscard]] io::Json event_to_json(const Event& event);  // without details

}  // namespace wheelyard::catalog
