#include "registry/upstream/page_store.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/private_files.hpp"
#include "lib/base/files/temporary_files.hpp"
#include "lib/io/log.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::uint64_t usual_file_bytes = 600;  // of memory, for one file of a page

std::uint64_t size_of(const CachedPage& page) {
    return (page.files.size() + page.gone.size() + 1) * usual_file_bytes;
}

std::string key_of(const std::string& cache_index, const std::string& project) {
    return cache_index + "/" + project;
}

}  // namespace

base::Status PageStore::remove_leftovers() const {
    std::error_code error;
    if (!std::filesystem::exists(folder_, error)) return {};
    return base::remove_temporary_files_below(folder_);
}

std::filesystem::path PageStore::page_file(const std::string& cache_index, const std::string& project) const {
    return folder_ / cache_index / "pages" / (project + ".json");
}

std::filesystem::path PageStore::metadata_file(const std::string& cache_index,
                                               const std::string& sha256) const {
    return folder_ / cache_index / "metadata" / sha256.substr(0, 2) / sha256;
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

// When the memory is full, all is dropped: simpler than LRU bookkeeping, and the files are still there.
void PageStore::remember(const std::string& key, Known known) {
    const std::lock_guard lock(mutex_);
    const auto former = pages_.find(key);
    if (former != pages_.end()) {
        bytes_ -= size_of(*former->second.page);
        pages_.erase(former);
    }
    bytes_ += size_of(*known.page);
    if (bytes_ > max_pages_in_memory_bytes || pages_.size() >= max_pages_in_memory) {
        pages_.clear();
        bytes_ = size_of(*known.page);
    }
    pages_.emplace(key, std::move(known));
}

SharedPage PageStore::find(const std::string& cache_index, const std::string& project) {
    const std::string key = key_of(cache_index, project);
    const std::filesystem::path file = page_file(cache_index, project);
    const FileStamp stamp = stamp_of(file);
    {
        const std::lock_guard lock(mutex_);
        const auto known = pages_.find(key);
        if (known != pages_.end() && known->second.stamp == stamp) return known->second.page;
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

base::Status PageStore::put(const std::string& cache_index, const std::string& project, CachedPage page) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    if (const SharedPage stored = find(cache_index, project)) {
        page.supplies = stored->supplies;
        page.released = stored->released;
        page.released_because = stored->released_because;
        // It was released while the upstream was asked.
        if (page.released != 0 && page.absent_since != 0) page = absent_page(&page);
    }
    if (!page.is_absent) page.released = 0;
    if (page.released == 0) page.released_because.clear();
    WHEELYARD_TRY(write(cache_index, project, std::move(page)));
    return {};
}

base::Result<SharedPage> PageStore::note_supply(const std::string& cache_index, const std::string& project,
                                                const std::string& index) {
    const std::lock_guard lock(write_mutex(key_of(cache_index, project)));
    const SharedPage stored = find(cache_index, project);
    if (!stored || stored->is_absent) return stored;
    if (std::find(stored->supplies.begin(), stored->supplies.end(), index) != stored->supplies.end())
        return stored;
    CachedPage page = *stored;
    page.supplies.push_back(index);
    return write(cache_index, project, std::move(page));
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
    WHEELYARD_TRY(write(cache_index, project, std::move(page)));
    return {};
}

std::shared_ptr<const std::string> PageStore::find_metadata(const std::string& cache_index,
                                                            const std::string& sha256) const {
    const std::filesystem::path file = metadata_file(cache_index, sha256);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return nullptr;
    auto bytes = base::read_file(file, max_metadata_bytes);
    // Served under this hash: a damaged file is fetched again.
    if (!bytes || base::sha256_hex(*bytes) != sha256) {
        io::log_error("upstream.metadata_damaged", {{"file", file.native()}});
        return nullptr;
    }
    return std::make_shared<const std::string>(*std::move(bytes));
}

base::Status PageStore::put_metadata(const std::string& cache_index, const std::string& sha256,
                                     std::string_view bytes) const {
    const std::filesystem::path file = metadata_file(cache_index, sha256);
    WHEELYARD_TRY(base::make_private_directories(folder_));
    WHEELYARD_TRY(base::make_directories(file.parent_path()));
    return base::replace_file(file, bytes, base::private_file_mode);
}

}  // namespace wheelyard::registry
