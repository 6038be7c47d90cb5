// The catalog: which file is published where, and the append-only log of how it came to be. SQLite behind
// catalog.cpp; no row id leaves it, and no SQL stands outside this folder.
//
// Threads: a Catalog is one connection and belongs to one thread at a time. The registry writes through one
// writer (registry/writer.hpp); the indexer opens its own, read-only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::catalog {

using Serial = std::int64_t;  // of the global event log; 0: nothing has happened yet

// One published (or once published) file of an index. `upload_time` is when it was committed.
struct FileRow {
    std::string index;
    std::string project;  // normalised
    std::string filename;
    std::string version;  // normalised
    std::string sha256;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;  // of the METADATA blob that `.metadata` serves
    std::uint64_t metadata_size_bytes = 0;
    std::string requires_python;  // empty: any
    base::UnixMicros upload_time = 0;
    std::string uploaded_by;  // the token's name
    bool yanked = false;
    std::string yanked_reason;
    std::string facts_json;  // inspect::Facts as JSON
};

enum class EventKind { file_added };
[[nodiscard]] std::string_view event_kind_text(EventKind kind);

struct Event {
    Serial serial = 0;
    EventKind kind = EventKind::file_added;
    base::UnixMicros time = 0;
    std::string index;
    std::string project;
    std::string filename;
    std::string details_json;  // everything that rendering needs: the whole FileRow
};

enum class AddOutcome { added, already_there, name_taken, name_was_deleted };
struct Added {
    AddOutcome outcome = AddOutcome::added;
    Serial serial = 0;         // the event that made the file visible (added and already_there)
    std::string sha256_there;  // name_taken: the bytes that have the name
};

// Tokens are stored as SHA-256 of the secret; the secret itself is shown once.
struct TokenRow {
    std::string id;  // public part, "wy_3f9a…"
    std::string secret_sha256;
    std::string name;                   // who or what uses it
    std::vector<std::string> indexes;   // "*" for all
    std::vector<std::string> projects;  // normalised names or "*"
    std::vector<std::string> actions;   // "upload"
    base::UnixMicros created = 0;
    base::UnixMicros expires = 0;  // 0: never
    bool revoked = false;
};

class Catalog {
  public:
    enum class Mode { read_write, read_only };
    // read_write creates the file and its schema, and migrates older schemas; read_only needs them there.
    [[nodiscard]] static base::Result<Catalog> open(const std::filesystem::path& file, Mode mode);
    Catalog(Catalog&&) noexcept;
    Catalog& operator=(Catalog&&) noexcept;
    ~Catalog();

    // One transaction each, durable when it returns (synchronous=FULL).
    [[nodiscard]] base::Result<Added> add_file(const FileRow& row);
    [[nodiscard]] base::Status add_token(const TokenRow& row);
    [[nodiscard]] base::Result<bool> revoke_token(std::string_view id);  // false: no such token

    [[nodiscard]] base::Result<Serial> last_serial() const;
    [[nodiscard]] base::Result<std::vector<Event>> events_after(Serial serial, std::size_t most) const;
    // Sorted by name; and all active files of one project sorted by (version text, filename).
    [[nodiscard]] base::Result<std::vector<std::string>> projects(std::string_view index) const;
    [[nodiscard]] base::Result<std::vector<FileRow>> files(std::string_view index,
                                                           std::string_view project) const;
    [[nodiscard]] base::Result<std::optional<FileRow>> file(std::string_view index,
                                                            std::string_view filename) const;
    [[nodiscard]] base::Result<std::vector<std::string>> indexes() const;  // that have files
    [[nodiscard]] base::Result<std::vector<TokenRow>> tokens() const;
    // Changes whenever another connection has committed (PRAGMA data_version): tells a cache to reload.
    [[nodiscard]] base::Result<std::int64_t> data_version() const;

  private:
    struct State;
    explicit Catalog(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace wheelyard::catalog
