// Renders what an index offers of an upstream's page. The catalog's rows of fetched files win over the page:
// their hashes are pinned, too, and a quarantined file is not offered.
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/limits.hpp"
#include "lib/io/log.hpp"
#include "lib/store/catalog/marks.hpp"
#include "registry/upstream/offer.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t large_page_files = 20'000;            // of such pages, one at a time is rendered
constexpr std::uint64_t trim_after_bytes = 32 * base::mib;  // dropped: give memory back to the system

const catalog::FileRow* find_row(const std::vector<catalog::FileRow>& rows, const std::string& filename) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const catalog::FileRow& each) { return each.filename == filename; });
    return row == rows.end() ? nullptr : &*row;
}

bool looks_same(const catalog::FileRow& a, const catalog::FileRow& b) {
    return a.filename == b.filename && a.sha256 == b.sha256 && a.metadata_sha256 == b.metadata_sha256 &&
           a.state == b.state && a.yanked == b.yanked && a.yanked_reason == b.yanked_reason;
}

bool look_same(const std::vector<catalog::FileRow>& a, const std::vector<catalog::FileRow>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const catalog::FileRow& one, const catalog::FileRow& other) { return looks_same(one, other); });
}

bool looks_same(const std::optional<catalog::ProjectRow>& a, const std::optional<catalog::ProjectRow>& b) {
    const catalog::ProjectRow none;
    const catalog::ProjectRow& one = a ? *a : none;
    const catalog::ProjectRow& other = b ? *b : none;
    return one.status == other.status && one.status_reason == other.status_reason;
}

catalog::FileRow row_of(const UpstreamFile& file, const std::string& index, const std::string& project) {
    catalog::FileRow row{file.link};
    row.index = index;
    row.project = project;
    row.version = parse_offered_name(row.filename)->version.text();  // it is offered
    return row;
}

// False: the stored file is quarantined.
bool merge_stored(catalog::FileRow& row, const catalog::FileRow& stored) {
    row.sha256 = stored.sha256;
    row.size_bytes = stored.size_bytes;
    catalog::FileRow offered = stored;
    catalog::keep_offered_metadata(offered);
    row.metadata_sha256 = offered.metadata_sha256;
    row.metadata_name = stored.metadata_name;
    if (stored.yanked && !row.yanked) {
        row.yanked = true;
        row.yanked_reason = stored.yanked_reason;
    }
    return stored.state == catalog::FileState::active;
}

// What the variants of a version are, as the upstream says it, for versions of which a variant is offered.
void add_variants(const Offer& offer, OfferedProject& offered) {
    std::set<std::string> names;
    for (const catalog::FileRow& row : offered.files) {
        if (catalog::is_variant_wheel(row.filename))
            names.insert(catalog::variants_filename(row.project, row.version));
    }
    for (const UpstreamFile* file : offer.files) {
        const simple::FileLink& link = file->link;
        if (names.contains(link.filename) && link.size_bytes > 0 &&
            link.size_bytes <= max_bytes_of_text(*file))
            offered.variants.push_back({{.filename = link.filename,
                                         .upload_time = link.upload_time,
                                         .size_bytes = link.size_bytes,
                                         .sha256 = link.sha256}});
    }
}

// What the catalog says of a project of an upstream.
struct Stored {
    const std::vector<catalog::FileRow>& rows;
    const std::vector<catalog::FileRow>& marks;
    const std::optional<catalog::ProjectRow>& status;
};

// What a page of `index` has; `offered.root_url` is given.
void add_files(const Offer& offer, const CachedPage& page, const UpstreamConfig& upstream,
               const std::string& index, const Stored& stored, OfferedProject& offered) {
    offered.status = catalog::parse_project_status(page.status).value_or(catalog::ProjectStatus::active);
    offered.status_reason = page.status_reason;
    if (stored.status && stored.status->status != catalog::ProjectStatus::active) {
        offered.status = stored.status->status;
        offered.status_reason = stored.status->status_reason;
    }
    if (offered.status == catalog::ProjectStatus::quarantined) return;  // PEP 792
    const catalog::Marks marks(stored.marks);
    for (const UpstreamFile* file : offer.files) {
        if (is_variants_file(file->link.filename)) continue;
        catalog::FileRow row = row_of(*file, index, offered.project);
        const catalog::FileRow* known = find_row(stored.rows, row.filename);
        if (known == nullptr) marks.apply(row);
        if (row.state == catalog::FileState::quarantined) continue;
        if (known == nullptr ? !offers_unfetched(page, upstream) : !merge_stored(row, *known)) continue;
        if (!offered.root_url.empty() && row.sha256 == file->link.sha256 && has_attestations(*file, upstream))
            offered.attested.insert(row.filename);
        offered.files.push_back(std::move(row));
    }
    add_variants(offer, offered);
}

// The C library keeps freed memory that lies between blocks in use.
void give_memory_back() {
#ifdef __GLIBC__
    ::malloc_trim(0);
#endif
}

}  // namespace

std::uint64_t Upstreams::size_of(const Rendered& rendered) {
    constexpr std::uint64_t entry_bytes = 512;  // with its key and what all have
    std::uint64_t bytes = entry_bytes + rendered.pages->html.capacity() + rendered.pages->json.capacity();
    bytes += http::PackedCopies::expected_bytes(rendered.pages->html.size() + rendered.pages->json.size());
    for (const auto* rows : {&rendered.rows, &rendered.marks})
        for (const catalog::FileRow& row : *rows)
            bytes += sizeof(row) + row.facts_json.capacity() + 4 * row.filename.capacity() +
                     4 * row.sha256.capacity();
    return bytes;
}

base::Result<catalog::FileRow> Upstreams::marked_row(const UpstreamConfig& upstream,
                                                     const std::string& project, const UpstreamFile& file) {
    catalog::FileRow row = row_of(file, upstream.cache_index, project);
    const std::lock_guard lock(reader_mutex_);
    WHEELYARD_ASSIGN(const auto marks, reader_->marks(row.index, row.project));
    catalog::Marks(marks).apply(row);
    WHEELYARD_ASSIGN(const auto status, reader_->project(row.index, row.project));
    if (status && status->status == catalog::ProjectStatus::quarantined) {
        row.state = catalog::FileState::quarantined;
        row.state_reason = status->status_reason;
    }
    return row;
}

// With an absolute URL of its own a page has the name of its index in it; without one it is the same in every
// index.
base::Result<std::shared_ptr<const http::RenderedPage>> Upstreams::render(const Ask& ask,
                                                                          const Supply& supply) {
    const std::string& index = ask.request.index;
    const std::string& project = ask.project;
    const UpstreamConfig& upstream = *supply.candidate.upstream;
    const std::string root_url = ask.rules->config->secure_root_url();
    const std::string key = upstream.cache_index + "/" + project + (root_url.empty() ? "" : " in " + index);
    const base::UnixMicros now = parts_.clock.now();
    std::unique_lock reading(reader_mutex_);
    WHEELYARD_ASSIGN(const std::int64_t changes, reader_->change_count());
    std::unique_lock lock(mutex_);
    const auto* const found = rendered_.find(key);
    const std::shared_ptr<const Rendered> known = found == nullptr ? nullptr : *found;
    lock.unlock();
    const bool is_of_page = known && known->page == supply.page && known->upstream.get() == &upstream &&
                            (known->until == 0 || now < known->until);
    if (is_of_page && known->catalog_changes == changes) return known->pages;
    WHEELYARD_ASSIGN(std::vector<catalog::FileRow> rows, reader_->files(upstream.cache_index, project));
    WHEELYARD_ASSIGN(std::vector<catalog::FileRow> marks, reader_->marks(upstream.cache_index, project));
    WHEELYARD_ASSIGN(auto status, reader_->project(upstream.cache_index, project));
    reading.unlock();
    const bool is_same = is_of_page && look_same(rows, known->rows) && look_same(marks, known->marks) &&
                         looks_same(status, known->status);
    auto next = is_same ? std::make_shared<Rendered>(*known) : std::make_shared<Rendered>();
    if (!is_same) {
        const SharedPage page = store_.find(upstream.cache_index, project);
        if (!page) return base::fail("upstream.page_file", "A cached page of an upstream is gone", project);
        std::unique_lock large(large_page_rendered_, std::defer_lock);
        if (page->files.size() > large_page_files) large.lock();
        const Offer offer = offer_of(*page, project, upstream, now);
        OfferedProject offered{.project = project, .root_url = root_url};
        add_files(offer, *page, upstream, index, {rows, marks, status}, offered);
        ProjectPages pages = parts_.render(std::move(offered));
        next->page = supply.page;
        next->upstream = {ask.rules->config, &upstream};
        next->rows = std::move(rows);
        next->marks = std::move(marks);
        next->status = std::move(status);
        next->until = offer.changes_at;
        std::string tag = base::sha256_hex(pages.json).substr(0, 32);
        next->pages =
            std::make_shared<const http::RenderedPage>(http::RenderedPage{.html = std::move(pages.html),
                                                                          .json = std::move(pages.json),
                                                                          .tag = std::move(tag),
                                                                          .modified = now});
    }
    next->catalog_changes = changes;
    lock.lock();
    dropped_bytes_ += rendered_.put(key, next, size_of(*next));
    const bool is_much = dropped_bytes_ >= trim_after_bytes;
    if (is_much) dropped_bytes_ = 0;
    lock.unlock();
    if (is_much) give_memory_back();
    return next->pages;
}

}  // namespace wheelyard::registry
