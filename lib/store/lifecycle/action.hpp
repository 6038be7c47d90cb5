// A change to the published files as a value, shared by the command line and the API.
//
//     POST /api/v1/indexes/main/files/six-1.16.0-py2.py3-none-any.whl/yank
//     {"format":"wheelyard.change/1","reason":"broken on ppc64le"}
//     → {"format":"wheelyard.changed/1","action":"yank","changed":true,"dry_run":false,"serial":14,
//        "files":[{"index":"main","filename":"six-1.16.0-py2.py3-none-any.whl"}],"blobs":0,"bytes":0}
//
// See docs/reference/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/record.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::lifecycle {

inline constexpr std::int64_t max_kept_versions = 10'000;
inline constexpr std::size_t max_files_of_set =
    100;  // promoted in one transaction, whose bytes are hashed before
inline constexpr std::size_t max_reason_bytes = 500;  // one line on a page and in the log

// gc. The minimum grace is many times as long as an upload takes from storing its bytes to committing their
// row: a younger blob may belong to an upload in progress.
inline constexpr std::int64_t min_grace_ms = 3'600'000;
inline constexpr std::int64_t default_grace_ms = 7 * 24 * min_grace_ms;

// 100 years. In microseconds it still fits 64 bits, also when it is subtracted from a time.
inline constexpr std::int64_t max_grace_ms = 36'500 * 24 * min_grace_ms;

enum class Verb {
    yank,
    unyank,
    remove,  // "delete"
    quarantine,
    release,
    pin,
    unpin,
    promote,
    set_status,
    retain,
    collect,  // "gc"
};

// The subject of a change; it determines the members of its URL path.
enum class Subject { file, project, index, registry };

struct VerbRow {
    Verb verb;
    std::string_view word;   // of the command line and in addresses
    std::string_view scope;  // the action that a token needs
    Subject subject;
    bool needs_reason;
};
[[nodiscard]] std::span<const VerbRow> verbs();
[[nodiscard]] const VerbRow& row_of(Verb verb);

struct Action {
    Verb verb = Verb::yank;
    std::string index = {};
    std::string filename = {};
    std::string project = {};   // set_status; retain: only this one
    std::string to_index = {};  // promote
    // promote: more files, in the same transaction. The page of `filename` shows it after the pages of these
    // files.
    std::vector<std::string> with = {};
    bool from_upstream = false;  // promote: also an upstream's file, to an index that owns the name
    catalog::ProjectStatus status = catalog::ProjectStatus::active;
    std::string reason = {};
    std::int64_t keep = 0;                     // retain: versions a series
    std::int64_t grace_ms = default_grace_ms;  // collect
    bool dry_run = false;                      // retain, collect
};

// The result. Repeating a change is not an error; `changed` is then false.
struct Done {
    bool changed = false;
    bool dry_run = false;
    catalog::Serial serial = 0;  // what must be visible before the change is; 0: nothing changed
    std::vector<catalog::FileName> files = {};
    std::uint64_t blobs = 0;  // collect
    std::uint64_t bytes = 0;
};

// Checks an action as far as possible without the catalog. Errors "lifecycle.reason_missing", "…reason",
// "…set", "…keep", "…grace".
[[nodiscard]] base::Status check(const Action& action);
// `filename` and what goes with it.
[[nodiscard]] std::vector<std::string> filenames_of(const Action& action);

[[nodiscard]] std::string render_done(Verb verb, const Done& done);
[[nodiscard]] io::Document changed_document();

}  // namespace wheelyard::lifecycle
