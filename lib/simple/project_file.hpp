// A file of a project, as a page of a Simple repository lists it, and the one table of its members there.
// Where a file is kept (FileLink), stored (catalog::FileRow) or cached, that struct is built on this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::simple {

struct HtmlAnchor;

// In the order of a line of the wheel list. A digest is in lower-case hex, and empty if it is not known.
struct ProjectFile {
    std::string filename = {};
    bool yanked = false;  // PEP 592
    std::string yanked_reason = {};
    std::string requires_python = {};      // empty: any
    base::UnixMicros upload_time = 0;      // PEP 700; 0: not known
    std::uint64_t size_bytes = 0;          // PEP 700; 0: not known
    std::string sha256 = {};               // PEP 503, 691
    std::string metadata_sha256 = {};      // of METADATA or PKG-INFO, at `{url}.metadata` (PEP 658, 714)
    std::string provenance_sha256 = {};    // of the document that says what made it, at `{url}.prov`
    std::string attestations_sha256 = {};  // of its provenance object (PEP 740), at `{url}.pep740`
    bool operator==(const ProjectFile&) const = default;
};

// A file of a page that was read.
struct FileLink : ProjectFile {
    std::string url = {};             // absolute, without fragment
    bool has_metadata = false;        // `{url}.metadata` is served, maybe without a digest on the page
    std::string provenance_url = {};  // PEP 740, as written; empty if the page has none (HTML: not read)
    bool operator==(const FileLink&) const = default;
};

// Appends `,"hashes":{…},"size":…`: all members but the addresses.
void append_json_members(std::string& json, const ProjectFile& file);
// Appends ` data-upload-time="…" …`: the same members as attributes of an anchor, as far as HTML has them.
void append_html_attributes(std::string& html, const ProjectFile& file);
// Both skip what is invalid.
void read_json_members(const io::Json& object, FileLink& file);
void read_html_attributes(const HtmlAnchor& anchor, FileLink& file);

// Appends the text in quotes.
void append_json_text(std::string& json, std::string_view text);
void append_html_text(std::string& html, std::string_view text);

// The digest in lower case, or nothing if the text is none.
[[nodiscard]] std::string sha256_or_empty(std::string_view text);
// "sha256=abc&egg=name" → the value of `key`; empty if absent.
[[nodiscard]] std::string_view fragment_value(std::string_view fragment, std::string_view key);

}  // namespace wheelyard::simple
