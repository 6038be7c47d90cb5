// The size, the time, the yank and the hash of the file itself have forms of their own; all else is a row.
#include "lib/simple/project_file.hpp"

#include <algorithm>
#include <array>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/simple/html_anchors.hpp"

namespace wheelyard::simple {
namespace {

// Checked for every byte of every page, so one table lookup per byte; find_first_of calls memchr for each.
constexpr base::ByteSet plain_json(' ', '~', "\"\\");
constexpr base::ByteSet special_html("&<>\"'");

enum class Form {
    text,
    digest,  // {"sha256":"…"} in JSON, "sha256=…" in HTML
    yanked,  // the reason, maybe empty; in HTML alone
};
// Empty texts and digests are not written, nor is a member in the form for which it has no name.
struct Member {
    std::string_view key;        // PEP 691 leaves names with a leading underscore to each index
    std::string_view attribute;  // of HTML's anchor
    Form form;
    std::string ProjectFile::*value;
};
// In the order in which both forms have them.
constexpr std::array members{
    Member{"requires-python", "data-requires-python", Form::text, &ProjectFile::requires_python},
    Member{"", "data-yanked", Form::yanked, &ProjectFile::yanked_reason},
    Member{"core-metadata", "data-core-metadata", Form::digest, &ProjectFile::metadata_sha256},
    Member{"_wheelyard_provenance", "", Form::digest, &ProjectFile::provenance_sha256},
    Member{"_wheelyard_attestations", "", Form::digest, &ProjectFile::attestations_sha256},
};

bool is_written(const Member& member, std::string_view name, const ProjectFile& file) {
    return !name.empty() && (member.form == Form::yanked ? file.yanked : !(file.*member.value).empty());
}

void append_digest(std::string& json, std::string_view key, std::string_view sha256) {
    json.append(",\"").append(key).append(R"(":{"sha256":")").append(sha256).append("\"}");
}

void read_digest(const io::Json* value, std::string& sha256) {
    if (value == nullptr) return;
    if (auto digest = sha256_or_empty(value->string_or("sha256", "")); !digest.empty())
        sha256 = std::move(digest);
}

// PEP 592: a non-empty reason, true or false.
void read_yanked(const io::Json& value, FileLink& file) {
    file.yanked_reason = value.as_string() == nullptr ? std::string() : *value.as_string();
    file.yanked = value.as_bool() == nullptr ? !file.yanked_reason.empty() : *value.as_bool();
}

// PEP 714: the newer name takes precedence. The value is null, false, true or {"sha256":"…"}.
void read_metadata(const io::Json& object, FileLink& file) {
    const io::Json* value = object.find("core-metadata");
    if (value == nullptr) value = object.find("dist-info-metadata");
    if (value == nullptr) return;
    file.has_metadata = value->as_bool() == nullptr ? value->as_object() != nullptr : *value->as_bool();
    read_digest(value, file.metadata_sha256);
}

}  // namespace

void append_json_text(std::string& json, std::string_view text) {
    if (std::all_of(text.begin(), text.end(), [](char c) { return plain_json.has(c); }))
        json.append(1, '"').append(text).append(1, '"');
    else
        json += io::Json(text).render();
}

void append_html_text(std::string& html, std::string_view text) {
    if (std::none_of(text.begin(), text.end(), [](char c) { return special_html.has(c); }))
        html.append(text);
    else
        html.append(base::escape_html(text));
}

std::string sha256_or_empty(std::string_view text) {
    auto lower = base::ascii_lower(text);
    return base::is_sha256_hex(lower) ? lower : std::string();
}

std::string_view fragment_value(std::string_view fragment, std::string_view key) {
    for (const auto part : base::split(fragment, '&')) {
        if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
            return part.substr(key.size() + 1);
    }
    return {};
}

void append_json_members(std::string& json, const ProjectFile& file) {
    append_digest(json, "hashes", file.sha256);
    if (file.size_bytes > 0) json.append(R"(,"size":)").append(std::to_string(file.size_bytes));
    json += R"(,"upload-time":")";
    base::append_rfc3339(json, file.upload_time);
    json += R"(","yanked":)";
    if (file.yanked && !file.yanked_reason.empty())
        append_json_text(json, file.yanked_reason);
    else
        json += file.yanked ? "true" : "false";
    for (const Member& member : members) {
        if (!is_written(member, member.key, file)) continue;
        const std::string& value = file.*member.value;
        if (member.form == Form::digest) {
            append_digest(json, member.key, value);
        } else {
            json.append(",\"").append(member.key).append("\":");
            append_json_text(json, value);
        }
    }
}

// No PEP names data-upload-time: PyTorch's index writes it and uv reads it, for `exclude-newer`.
void append_html_attributes(std::string& html, const ProjectFile& file) {
    html += " data-upload-time=\"";
    base::append_rfc3339(html, file.upload_time);
    html += '"';
    for (const Member& member : members) {
        if (!is_written(member, member.attribute, file)) continue;
        html.append(" ").append(member.attribute).append(member.form == Form::digest ? "=\"sha256=" : "=\"");
        append_html_text(html, file.*member.value);
        html += '"';
    }
}

void read_json_members(const io::Json& object, FileLink& file) {
    read_digest(object.find("hashes"), file.sha256);
    file.size_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(object.int_or("size", 0), 0));
    file.upload_time = base::parse_rfc3339(object.string_or("upload-time", "")).value_or(0);
    if (const io::Json* yanked = object.find("yanked"); yanked != nullptr) read_yanked(*yanked, file);
    for (const Member& member : members) {
        if (member.key.empty()) continue;
        if (member.form == Form::digest)
            read_digest(object.find(member.key), file.*member.value);
        else
            file.*member.value = object.string_or(member.key, "");
    }
    read_metadata(object, file);
    file.provenance_url = object.string_or("provenance", "");
}

void read_html_attributes(const HtmlAnchor& anchor, FileLink& file) {
    if (const auto* time = anchor.attribute("data-upload-time"))
        file.upload_time = base::parse_rfc3339(*time).value_or(0);
    for (const Member& member : members) {
        const auto* value = anchor.attribute(member.attribute);
        if (value == nullptr || member.form == Form::digest) continue;
        file.*member.value = *value;
        if (member.form == Form::yanked) file.yanked = true;
    }
    // The one digest of HTML, as in JSON: "true", "false" or "sha256=…".
    const auto* metadata = anchor.attribute("data-core-metadata");
    if (metadata == nullptr) metadata = anchor.attribute("data-dist-info-metadata");
    if (metadata == nullptr) return;
    file.has_metadata = *metadata != "false";
    file.metadata_sha256 = sha256_or_empty(fragment_value(*metadata, "sha256"));
}

}  // namespace wheelyard::simple
