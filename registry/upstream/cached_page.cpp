// The table of a cached page, and how a newly fetched page changes it.
#include "registry/upstream/cached_page.hpp"

#include <cstddef>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/io/record.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/offer.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_gone_files = 100'000;  // hashes of files that left a page

using io::field;
using io::Need;
using io::Written;

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
    for (const UpstreamFile& file : before->files) {
        if (is_variants_file(file.link.filename)) continue;  // it changes with each wheel of its version
        pins.emplace(file.link.filename, Pin{&file.link.sha256, file.first_seen, file.is_changed});
    }
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
        if (!sha256.empty() && !is_variants_file(filename) && !listed.contains(filename) &&
            page.gone.size() < max_gone_files)
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
    file.link.size_bytes = 0;
    file.link.has_metadata = false;
    file.link.metadata_sha256.clear();
    file.link.provenance_url.clear();
}

// A file is yanked because the member is there, with the reason or empty; likewise for the hash of its
// METADATA.
template <auto is_there, auto text>
struct There : io::Plain<std::string> {
    static io::Json to(const simple::FileLink& link) {
        return link.*is_there ? io::Json(link.*text) : io::Json();
    }
    static bool from(const io::Json& json, simple::FileLink& into) {
        into.*is_there = true;
        return io::Plain<std::string>::from(json, into.*text);
    }
};

// A size that the page does not give is absent.
struct KnownSize : io::Plain<std::uint64_t> {
    static io::Json to(std::uint64_t bytes) { return bytes == 0 ? io::Json() : io::Json(bytes); }
};

using F = UpstreamFile;
using L = simple::FileLink;
constexpr auto file_record = io::record<F>({
    field<&F::link, &L::filename>("filename", "as the page gives it"),
    field<&F::link, &L::url>("url", "where the upstream has it", Need::required),
    field<&F::link, &L::sha256>("sha256", "the hash that was seen first; empty: none"),
    field<&F::link, &L::upload_time>("upload_time", "as the page gives it, else as `first_seen`"),
    field<&F::first_seen>("first_seen", "when a page first had it", Need::required),
    field<KnownSize, &F::link, &L::size_bytes>("size", "in bytes", Need::optional, Written::unless_null),
    field<&F::link, &L::requires_python>("requires_python", "as the page gives it", Need::optional,
                                         Written::if_given),
    field<There<&L::yanked, &L::yanked_reason>, &F::link>("yanked", "there: it is yanked; the reason",
                                                          Need::even_empty, Written::unless_null),
    field<There<&L::has_metadata, &L::metadata_sha256>, &F::link>(
        "metadata_sha256", "there: it has METADATA; its hash", Need::even_empty, Written::unless_null),
    field<&F::link, &L::provenance_url>("provenance", "where the upstream has its attestations (PEP 740)",
                                        Need::optional, Written::if_given),
    field<&F::is_changed>("is_changed", "the page gives another hash", Need::optional, Written::if_given),
});

constexpr auto gone_record = io::record<PinnedFile>({
    field<&PinnedFile::filename>("filename", "as the page gives it"),
    field<&PinnedFile::sha256>("sha256", "the hash that was seen first", Need::required),
    field<&PinnedFile::first_seen>("first_seen", "when a page first had it"),
});

constexpr auto missing_record = io::record<MissingFile>({
    field<&MissingFile::filename>("filename", "of a fetched file"),
    field<&MissingFile::since>("since", "the first answer that lacked it"),
});

// Pages of earlier versions lack the time of an upload.
struct File : io::Nested<file_record> {
    static bool from(const io::Json& json, UpstreamFile& into, io::Fault& fault) {
        const bool is_read = file_record.read(json, into, fault);
        if (!io::is_given(json.find("upload_time"))) into.link.upload_time = into.first_seen;
        return is_read;
    }
};

using C = CachedPage;
constexpr auto page_record = io::record<C>({
    field<&C::is_absent>("is_absent", "the upstream has no such project"),
    field<&C::checked>("checked", "the last answer of the upstream", Need::required),
    field<&C::fresh_until>("fresh_until", "no question before"),
    field<&C::from>("from", "`url` of the upstream that sent it"),
    field<&C::etag>("etag", "of its answer"),
    field<&C::last_modified>("last_modified", "of its answer"),
    field<&C::status>("status", "of the project (PEP 792)"),
    field<&C::status_reason>("status_reason", "the reason of the status"),
    field<io::ListOf<File>, &C::files>("files", "the files of the page", Need::valid),
    field<io::ListOf<io::Nested<gone_record>>, &C::gone>("gone", "files that left the page", Need::valid),
    field<io::ListOf<io::Nested<missing_record>>, &C::missing>(
        "missing", "fetched files that it lacks, with `removed = \"quarantine\"`"),
    field<&C::absent_since>("absent_since",
                            "the upstream lost the project then; the page is as it was before"),
    field<&C::supplies>("supplies", "indexes that got the project from here"),
    field<&C::released>("released", "an operator let others supply the project then"),
    field<&C::released_because>("released_because", "why"),
});

// Both become parts of paths.
bool has_hashes(const UpstreamFile& file) {
    for (const std::string* hash : {&file.link.sha256, &file.link.metadata_sha256}) {
        if (!hash->empty() && !base::is_sha256_hex(*hash)) return false;
    }
    return true;
}

}  // namespace

MergedPage merge_page(const CachedPage* before, simple::ProjectPage fetched, base::UnixMicros now) {
    const Pins pins = pins_of(before);
    MergedPage merged;
    if (before != nullptr) merged.page.supplies = before->supplies;
    merged.page.status = std::move(fetched.status);
    merged.page.status_reason = std::move(fetched.status_reason);
    std::unordered_set<std::string> names;
    for (simple::FileLink& link : fetched.files) {
        if (!names.insert(link.filename).second) continue;  // the first of two links with one name counts
        UpstreamFile file{.link = std::move(link), .first_seen = now};
        if (const auto pin = pins.find(file.link.filename); pin != pins.end())
            keep_first_hash(file, pin->second, merged.alarms);
        if (file.link.upload_time == 0) file.link.upload_time = file.first_seen;
        file.link.provenance_sha256.clear();  // of a registry such as this one: the mirror does not have them
        file.link.attestations_sha256.clear();
        merged.page.files.push_back(std::move(file));
    }
    keep_pins(before, merged.page);
    return merged;
}

CachedPage kept_page(const CachedPage& before, base::UnixMicros now) {
    CachedPage page = before;
    if (page.absent_since == 0) page.absent_since = now;
    return page;
}

CachedPage absent_page(const CachedPage* before) {
    CachedPage page{.is_absent = true};
    keep_pins(before, page);
    if (before == nullptr) return page;
    page.absent_since = before->absent_since;
    page.supplies = before->supplies;
    page.released = before->released;
    page.released_because = before->released_because;
    return page;
}

std::string render_cached_page(const CachedPage& page) {
    io::Json json = io::Json::object({{"format", page_format}});
    page_record.write_into(json, page);
    return json.render();
}

base::Result<CachedPage> parse_cached_page(std::string_view json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json, {.bytes = max_page_file_bytes}));
    if (document.string_or("format", "") != page_format)
        return base::fail_malformed("upstream.page_file", "This is not a cached page of an upstream",
                                    document.string_or("format", ""));
    CachedPage page;
    WHEELYARD_TRY(page_record.read(document, page));
    for (const UpstreamFile& file : page.files) {
        if (!has_hashes(file))
            return base::fail_malformed("upstream.page_file", "A cached page has an invalid hash",
                                        file.link.filename);
    }
    return page;
}

}  // namespace wheelyard::registry
