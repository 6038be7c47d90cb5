#include "registry/upstream/cached_page.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/io/json.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view page_format = "wheelyard.upstream-page/1";

struct Pin {
    const std::string* sha256;
    base::UnixMicros first_seen;
    bool was_changed;
};
using Pins = std::unordered_map<std::string_view, Pin>;  // views of `before`

Pins pins_of(const CachedPage* before) {
    Pins pins;
    if (before == nullptr) return pins;
    for (const UpstreamFile& file : before->files)
        pins.emplace(file.link.filename, Pin{&file.link.sha256, file.first_seen, file.is_changed});
    for (const PinnedFile& file : before->gone)
        pins.emplace(file.filename, Pin{&file.sha256, file.first_seen, false});
    return pins;
}

void keep_pins(const CachedPage* before, CachedPage& page) {
    if (before == nullptr) return;
    std::unordered_set<std::string_view> listed;
    for (const UpstreamFile& file : page.files)
        listed.insert(file.link.filename);
    const auto keep = [&](const std::string& filename, const std::string& sha256, base::UnixMicros seen) {
        if (!sha256.empty() && !listed.contains(filename) && page.gone.size() < max_gone_files)
            page.gone.push_back({filename, sha256, seen});
    };
    for (const PinnedFile& file : before->gone)
        keep(file.filename, file.sha256, file.first_seen);
    for (const UpstreamFile& file : before->files)
        keep(file.link.filename, file.link.sha256, file.first_seen);
}

// The pinned hash stays; METADATA of other bytes is not this file's.
void keep_first_hash(UpstreamFile& file, const Pin& pin, std::vector<HashAlarm>& alarms) {
    file.first_seen = pin.first_seen;
    if (pin.sha256->empty() || *pin.sha256 == file.link.sha256) return;
    file.is_changed = true;
    if (!pin.was_changed) alarms.push_back({file.link.filename, *pin.sha256, file.link.sha256});
    file.link.sha256 = *pin.sha256;
    file.link.size.reset();
    file.link.has_metadata = false;
    file.link.metadata_sha256.clear();
}

io::Json json_of(const UpstreamFile& file) {
    const simple::FileLink& link = file.link;
    io::Json json = io::Json::object({{"filename", link.filename},
                                      {"url", link.url},
                                      {"sha256", link.sha256},
                                      {"upload_time", file.upload_time},
                                      {"first_seen", file.first_seen}});
    if (link.size) json.set("size", *link.size);
    if (!link.requires_python.empty()) json.set("requires_python", link.requires_python);
    if (link.yanked) json.set("yanked", link.yanked_reason);
    if (link.has_metadata) json.set("metadata_sha256", link.metadata_sha256);
    if (file.is_changed) json.set("is_changed", true);
    return json;
}

base::Result<UpstreamFile> file_of(const io::Json& json) {
    UpstreamFile file;
    simple::FileLink& link = file.link;
    WHEELYARD_ASSIGN(link.filename, json.string_at("filename"));
    WHEELYARD_ASSIGN(link.url, json.string_at("url"));
    WHEELYARD_ASSIGN(link.sha256, json.string_at("sha256"));
    WHEELYARD_ASSIGN(file.first_seen, json.int_at("first_seen"));
    file.upload_time = json.int_or("upload_time", file.first_seen);
    if (const std::int64_t size = json.int_or("size", -1); size >= 0)
        link.size = static_cast<std::uint64_t>(size);
    link.requires_python = json.string_or("requires_python", "");
    link.yanked = json.find("yanked") != nullptr;
    link.yanked_reason = json.string_or("yanked", "");
    link.has_metadata = json.find("metadata_sha256") != nullptr;
    link.metadata_sha256 = json.string_or("metadata_sha256", "");
    file.is_changed = json.bool_or("is_changed", false);
    // Both become parts of paths.
    if ((!link.sha256.empty() && !base::is_sha256_hex(link.sha256)) ||
        (!link.metadata_sha256.empty() && !base::is_sha256_hex(link.metadata_sha256)))
        return base::fail_malformed("upstream.page_file", "A cached page has an invalid hash", link.filename);
    return file;
}

}  // namespace

MergedPage merge_page(const CachedPage* before, simple::ProjectPage fetched, base::UnixMicros now) {
    const Pins pins = pins_of(before);
    MergedPage merged;
    merged.page.status = std::move(fetched.status);
    merged.page.status_reason = std::move(fetched.status_reason);
    std::unordered_set<std::string> names;
    for (simple::FileLink& link : fetched.files) {
        if (!names.insert(link.filename).second) continue;  // the first of two links with one name counts
        UpstreamFile file{.link = std::move(link), .upload_time = 0, .first_seen = now};
        if (const auto pin = pins.find(file.link.filename); pin != pins.end())
            keep_first_hash(file, pin->second, merged.alarms);
        file.upload_time = base::parse_rfc3339(file.link.upload_time).value_or(file.first_seen);
        file.link.upload_time.clear();
        merged.page.files.push_back(std::move(file));
    }
    keep_pins(before, merged.page);
    return merged;
}

CachedPage absent_page(const CachedPage* before) {
    CachedPage page{.is_absent = true};
    keep_pins(before, page);
    return page;
}

std::string render_cached_page(const CachedPage& page) {
    io::Json::Array files;
    files.reserve(page.files.size());
    for (const UpstreamFile& file : page.files)
        files.push_back(json_of(file));
    io::Json::Array gone;
    for (const PinnedFile& file : page.gone)
        gone.push_back(io::Json::object(
            {{"filename", file.filename}, {"sha256", file.sha256}, {"first_seen", file.first_seen}}));
    return io::Json::object({{"format", page_format},
                             {"is_absent", page.is_absent},
                             {"checked", page.checked},
                             {"fresh_until", page.fresh_until},
                             {"from", page.from},
                             {"etag", page.etag},
                             {"last_modified", page.last_modified},
                             {"status", page.status},
                             {"status_reason", page.status_reason},
                             {"files", std::move(files)},
                             {"gone", std::move(gone)}})
        .render();
}

base::Result<CachedPage> parse_cached_page(std::string_view json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json, {.bytes = max_page_file_bytes}));
    if (document.string_or("format", "") != page_format)
        return base::fail_malformed("upstream.page_file", "This is not a cached page of an upstream",
                                    document.string_or("format", ""));
    CachedPage page;
    page.is_absent = document.bool_or("is_absent", false);
    WHEELYARD_ASSIGN(page.checked, document.int_at("checked"));
    page.fresh_until = document.int_or("fresh_until", 0);
    page.from = document.string_or("from", "");
    page.etag = document.string_or("etag", "");
    page.last_modified = document.string_or("last_modified", "");
    page.status = document.string_or("status", "");
    page.status_reason = document.string_or("status_reason", "");
    for (const io::Json& item : document.items("files")) {
        WHEELYARD_ASSIGN(UpstreamFile file, file_of(item));
        page.files.push_back(std::move(file));
    }
    for (const io::Json& item : document.items("gone")) {
        PinnedFile file;
        WHEELYARD_ASSIGN(file.filename, item.string_at("filename"));
        WHEELYARD_ASSIGN(file.sha256, item.string_at("sha256"));
        file.first_seen = item.int_or("first_seen", 0);
        page.gone.push_back(std::move(file));
    }
    return page;
}

}  // namespace wheelyard::registry
