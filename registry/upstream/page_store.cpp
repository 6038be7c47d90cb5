#include "registry/upstream/page_store.hpp"

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

// When the memory is full, all is dropped: simpler than LRU bookkeeping, and the files are still there.
void PageStore::remember(const std::string& key, SharedPage page) {
    const std::lock_guard lock(mutex_);
    const auto known = pages_.find(key);
    if (known != pages_.end()) {
        bytes_ -= size_of(*known->second);
        pages_.erase(known);
    }
    bytes_ += size_of(*page);
    if (bytes_ > max_pages_in_memory_bytes || pages_.size() >= max_pages_in_memory) {
        pages_.clear();
        bytes_ = size_of(*page);
    }
    pages_.emplace(key, std::move(page));
}

SharedPage PageStore::find(const std::string& cache_index, const std::string& project) {
    const std::string key = key_of(cache_index, project);
    {
        const std::lock_guard lock(mutex_);
        const auto known = pages_.find(key);
        if (known != pages_.end()) return known->second;
    }
    const std::filesystem::path file = page_file(cache_index, project);
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return nullptr;
    auto text = base::read_file(file, max_page_file_bytes);
    auto page = text ? parse_cached_page(*text) : base::Result<CachedPage>(base::fail(text.error()));
    if (!page) {
        io::log_error("upstream.page_unreadable", {{"file", file.native()}, {"error", page.error().text()}});
        return nullptr;
    }
    auto shared = std::make_shared<const CachedPage>(*std::move(page));
    remember(key, shared);
    return shared;
}

base::Status PageStore::put(const std::string& cache_index, const std::string& project, CachedPage page) {
    if (!page.is_absent || !page.gone.empty()) {
        const std::filesystem::path file = page_file(cache_index, project);
        WHEELYARD_TRY(base::make_private_directories(folder_));
        WHEELYARD_TRY(base::make_directories(file.parent_path()));
        WHEELYARD_TRY(base::replace_file(file, render_cached_page(page), base::private_file_mode));
    }
    remember(key_of(cache_index, project), std::make_shared<const CachedPage>(std::move(page)));
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
