#include "registry/upstream/page_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/io/log.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/offer.hpp"

namespace wheelyard::registry {
namespace {

std::uint64_t heap_of(const std::string& text) {
    constexpr std::size_t within = 15;        // is in the string itself
    constexpr std::uint64_t of_a_block = 16;  // of the heap
    return text.capacity() > within ? text.capacity() + of_a_block : 0;
}

std::uint64_t size_of(const CachedPage& page) {
    std::uint64_t bytes = sizeof(CachedPage) + page.files.capacity() * sizeof(UpstreamFile) +
                          page.gone.capacity() * sizeof(PinnedFile);
    for (const std::string* text : {&page.from, &page.etag, &page.last_modified, &page.status_reason})
        bytes += heap_of(*text);
    for (const std::string& index : page.supplies)
        bytes += sizeof(index) + heap_of(index);
    for (const UpstreamFile& file : page.files) {
        const simple::FileLink& link = file.link;
        for (const std::string* text : {&link.filename, &link.url, &link.sha256, &link.requires_python,
                                        &link.yanked_reason, &link.metadata_sha256, &link.provenance_url})
            bytes += heap_of(*text);
    }
    for (const MissingFile& file : page.missing)
        bytes += sizeof(file) + heap_of(file.filename);
    for (const PinnedFile& file : page.gone)
        bytes += heap_of(file.filename) + heap_of(file.sha256);
    return bytes;
}

// The size of an entry with its key.
constexpr std::uint64_t entry_bytes = 256;

std::string key_of(const std::string& cache_index, const std::string& project) {
    return cache_index + "/" + project;
}

}  // namespace

std::filesystem::path PageStore::page_file(const std::string& cache_index, const std::string& project) const {
    return folder_ / cache_index / "pages" / (project + ".json");
}

std::filesystem::path PageStore::metadata_file(const std::string& cache_index, const std::string& key) const {
    return folder_ / cache_index / "metadata" / key.substr(0, 2) / key;
}

PageStore::FileStamp PageStore::stamp_of(const std::filesystem::path& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) return {};
    constexpr std::int64_t ns_per_s = 1'000'000'000;
    return {found.st_mtim.tv_sec * ns_per_s + found.st_mtim.tv_nsec, found.st_ino, found.st_size};
}

std::mutex& PageStore::write_mutex(const std::string& key) {
    return write_mutexes_[std::hash<std::string>()(key) % write_mutexes_.size()];
}

SharedPage PageStore::head_of(const SharedPage& page) {
    if (page->is_absent) return page;
    auto head = std::make_shared<CachedPage>();
    head->checked = page->checked;
    head->fresh_until = page->fresh_until;
    head->from = page->from;
    head->etag = page->etag;
    head->last_modified = page->last_modified;
    head->status = page->status;
    head->status_reason = page->status_reason;
    head->absent_since = page->absent_since;
    head->supplies = page->supplies;
    return head;
}

SharedPage PageStore::remember(const std::string& key, Known known) {
    const std::uint64_t bytes = size_of(*known.page) + entry_bytes;
    const std::lock_guard lock(mutex_);
    const Known* const before = heads_.find(key);
    // Read again from the same file, it is the same page.
    SharedPage head = before != nullptr && before->stamp == known.stamp && known.stamp != FileStamp{}
                          ? before->page
                          : head_of(known.page);
    heads_.put(key, {head, known.stamp}, size_of(*head) + entry_bytes);
    pages_.put(key, std::move(known), bytes);
    return head;
}

std::uint64_t PageStore::memory_bytes() const {
    const std::lock_guard lock(mutex_);
    return heads_.bytes() + pages_.bytes();
}

SharedPage PageStore::head(const std::string& cache_index, const std::string& project) {
    const std::string key = key_of(cache_index, project);
    const FileStamp stamp = stamp_of(page_file(cache_index, project));
    {
        const std::lock_guard lock(mutex_);
        const Known* const known = heads_.find(key);
        if (known != nullptr && known->stamp == stamp) return known->page;
    }
    const SharedPage page = find(cache_index, project);
    if (!page) return nullptr;
    const std::lock_guard lock(mutex_);
    const Known* const known = heads_.find(key);
    return known != nullptr ? known->page : head_of(page);
}

SharedPage PageStore::find(const std::string& cache_index, const std::string& project) {
    const std::string key = key_of(cache_index, project);
    const std::filesystem::path file = page_file(cache_index, project);
    const FileStamp stamp = stamp_of(file);
    {
        const std::lock_guard lock(mutex_);
        for (RecentlyUsed<Known>* const memory : {&pages_, &heads_}) {
            const Known* const known = memory->find(key);
            const bool is_whole = memory == &pages_ || (known != nullptr && known->page->is_absent);
            if (known != nullptr && is_whole && known->stamp == stamp) return known->page;
        }
    }
    if (stamp == FileStamp{}) return nullptr;
    auto text = base::read_file(file, max_page_file_bytes);
    auto page = text ? parse_cached_page(*text) : base::Result<CachedPage>(base::fail(text.error()));
    if (!page) {
        io::log_error("upstream.page_unreadable", {{"file", file.native()}, {"error", page.error().text()}});
        page = CachedPage{.is_absent = true, .absent_since = 1};
    }
    auto shared = std::make_shared<const CachedPage>(*std::move(page));
    remember(key, {shared, stamp});
    return shared;
}

base::Result<SharedPage> PageStore::write(const std::string& cache_index, const std::string& project,
                                          CachedPage page) {
    const std::filesystem::path file = page_file(cache_index, project);
    const bool is_worth_a_file =
        !page.is_absent || !page.gone.empty() || page.absent_since != 0 || page.released != 0;
    if (is_worth_a_file) {
        WHEELYARD_TRY(base::make_private_directories(folder_));
        WHEELYARD_TRY(base::make_directories(file.parent_path()));
        WHEELYARD_TRY(base::replace_file(file, render_cached_page(page), base::private_file_mode));
    }
    auto shared = std::make_shared<const CachedPage>(std::move(page));
    remember(key_of(cache_index, project), {shared, stamp_of(file)});
    return shared;
}

// What another project's page names by the same hash is fetched again.
void PageStore::remove_texts(const std::string& cache_index, const CachedPage& before,
                             const CachedPage& now) const {
    const std::set<std::string> kept = keys_of_texts(now);
    for (const std::string& key : keys_of_texts(before)) {
        std::error_code ignored;  // most were never asked for
        if (!kept.contains(key)) std::filesystem::remove(metadata_file(cache_index, key), ignored);
    }
}

base::Status PageStore::put(const std::string& cache_index, const std::string& project, CachedPage page) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    const SharedPage stored = find(cache_index, project);
    if (stored) {
        page.supplies = stored->supplies;
        page.released = stored->released;
        page.released_because = stored->released_because;
        // It was released while the upstream was asked.
        if (page.released != 0 && page.absent_since != 0) page = absent_page(&page);
    }
    if (!page.is_absent) page.released = 0;
    if (page.released == 0) page.released_because.clear();
    WHEELYARD_ASSIGN(const SharedPage now, write(cache_index, project, std::move(page)));
    if (stored) remove_texts(cache_index, *stored, *now);
    return {};
}

base::Result<SharedPage> PageStore::note_supply(const std::string& cache_index, const std::string& project,
                                                const std::vector<std::string>& indexes) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    const SharedPage stored = find(cache_index, project);
    if (!stored || stored->is_absent || stored->files.empty()) return stored;
    CachedPage page = *stored;
    for (const std::string& index : indexes) {
        if (std::find(page.supplies.begin(), page.supplies.end(), index) == page.supplies.end())
            page.supplies.push_back(index);
    }
    if (page.supplies.size() == stored->supplies.size()) return stored;
    return write(cache_index, project, std::move(page));
}

base::Status PageStore::expire(const std::string& cache_index, const std::string& project) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    const SharedPage stored = find(cache_index, project);
    if (!stored || stored->is_absent) return {};
    CachedPage page = *stored;
    page.fresh_until = 0;
    WHEELYARD_TRY(write(cache_index, project, std::move(page)));
    return {};
}

base::Status PageStore::release(const std::string& cache_index, const std::string& project,
                                const std::string& reason, base::UnixMicros now) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    const SharedPage stored = find(cache_index, project);
    CachedPage page = absent_page(stored.get());
    page.checked = now;
    page.absent_since = 0;
    page.supplies.clear();
    page.released = now;
    page.released_because = reason;
    WHEELYARD_ASSIGN(const SharedPage written, write(cache_index, project, std::move(page)));
    if (stored) remove_texts(cache_index, *stored, *written);
    return {};
}

std::shared_ptr<const std::string> PageStore::find_metadata(const std::string& cache_index,
                                                            const std::string& key,
                                                            const std::string& sha256) const {
    auto bytes = find_text(cache_index, key);
    // Served under this hash: a damaged file and an earlier state of variants are fetched again.
    if (!bytes || base::sha256_hex(*bytes) == sha256) return bytes;
    if (key == sha256)
        io::log_error("upstream.metadata_damaged", {{"file", metadata_file(cache_index, key).native()}});
    return nullptr;
}

std::shared_ptr<const std::string> PageStore::find_text(const std::string& cache_index,
                                                        const std::string& key) const {
    const std::filesystem::path file = metadata_file(cache_index, key);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return nullptr;
    auto bytes = base::read_file(file, max_metadata_bytes);
    if (bytes) return std::make_shared<const std::string>(*std::move(bytes));
    io::log_error("upstream.metadata_damaged", {{"file", file.native()}, {"error", bytes.error().text()}});
    return nullptr;
}

base::Status PageStore::put_metadata(const std::string& cache_index, const std::string& key,
                                     std::string_view bytes) const {
    const std::filesystem::path file = metadata_file(cache_index, key);
    WHEELYARD_TRY(base::make_private_directories(folder_));
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    return base::replace_file(file, bytes, base::private_file_mode);
}

}  // namespace wheelyard::registry
