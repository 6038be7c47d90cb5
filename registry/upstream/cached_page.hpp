// A project's page of an upstream as a cache file, and how a newly fetched page changes it. Pure.
//
//     DIR/upstream/<index>.<upstream>/pages/<project>.json
//     {"format":"wheelyard.upstream-page/1","checked":1700000000000000,"fresh_until":…,"from":"https://…","etag":"\"x\"",
//      "files":[{"filename":"six-1.17.0-py2.py3-none-any.whl","url":"https://…","sha256":"4721…","first_seen":…}],
//      "gone":[{"filename":…,"sha256":…,"first_seen":…}]}
//
// The hash with which a file name was seen first is pinned: a page that gives another one for it is an alarm,
// and the file keeps its first hash. A file that left the page keeps its pin in `gone`. Who supplied a
// project keeps it: supplier.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::registry {

struct UpstreamFile {
    simple::FileLink link;  // its upload time: as the page gives it, else when it was first seen
    base::UnixMicros first_seen = 0;
    bool is_changed = false;  // the page gives another hash than the pinned one in `link`
};

struct PinnedFile {
    std::string filename;
    std::string sha256;
    base::UnixMicros first_seen = 0;
};

// A fetched file that each full answer of the upstream has lacked since then (removed.hpp).
struct MissingFile {
    std::string filename;
    base::UnixMicros since = 0;
};

struct CachedPage {
    bool is_absent = false;        // the upstream has no such project
    base::UnixMicros checked = 0;  // last answer of the upstream
    base::UnixMicros fresh_until = 0;
    std::string from = {};  // `url` of the upstream that sent it; empty: unknown, of an earlier version
    std::string etag = {};
    std::string last_modified = {};
    std::string status = {};  // PEP 792, as written
    std::string status_reason = {};
    std::vector<UpstreamFile> files = {};
    std::vector<PinnedFile> gone = {};
    std::vector<MissingFile> missing = {};
    // The upstream has had no such project since then, and the page is kept as it was; 0: it has it. Of an
    // absent page: files of it were known.
    base::UnixMicros absent_since = 0;
    std::vector<std::string> supplies = {};  // indexes that got the project from here
    base::UnixMicros released = 0;           // an operator let others supply the project; 0: none did
    std::string released_because = {};
    // The upstream keeps the project in quarantine (PEP 792).
    [[nodiscard]] bool is_quarantined() const { return status == "quarantined"; }
    // The upstream has had another `url` since: neither freshness nor validators are of this one.
    [[nodiscard]] bool is_of_other(std::string_view url) const { return !from.empty() && from != url; }
};

// A file name whose hash the upstream changed.
struct HashAlarm {
    std::string filename;
    std::string pinned;
    std::string claimed;
};
struct MergedPage {
    CachedPage page;
    std::vector<HashAlarm> alarms;  // new since `before`
};
// `before`: nullptr for the first page. Validators and freshness are left to the caller.
[[nodiscard]] MergedPage merge_page(const CachedPage* before, simple::ProjectPage fetched,
                                    base::UnixMicros now);
// The upstream lost the project: everything stays as it was, so that no other upstream takes its place.
[[nodiscard]] CachedPage kept_page(const CachedPage& before, base::UnixMicros now);
// The upstream has no such project: no files, but pins of former ones stay.
[[nodiscard]] CachedPage absent_page(const CachedPage* before);

[[nodiscard]] std::string render_cached_page(const CachedPage& page);
// Errors "json.*", "upstream.page_file".
[[nodiscard]] base::Result<CachedPage> parse_cached_page(std::string_view json);

}  // namespace wheelyard::registry
