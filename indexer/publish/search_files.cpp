#include "indexer/publish/search_files.hpp"

#include <iterator>
#include <utility>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "lib/page/places.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_pending = 2000;  // files of a new search in memory, some 10 KB each

}  // namespace

base::Result<std::string> SearchFiles::read(const std::string& file) {
    const auto place = places_.find(file);
    if (place != places_.end()) return pending_[place->second].bytes;
    const fs::path path = folder_ / file;
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(path.native()));
    if (!size || gone_.contains(file)) return std::string();
    return disk_.read(path, max_page_bytes);
}

base::Status SearchFiles::write(const std::string& file, std::string bytes) {
    gone_.erase(file);
    const auto [place, is_first] = places_.emplace(file, pending_.size());
    if (!is_first) {
        pending_[place->second].bytes = std::move(bytes);
        return {};
    }
    pending_.push_back({file, std::move(bytes)});
    return is_new_ && pending_.size() >= max_pending ? flush() : base::Status();
}

base::Status SearchFiles::remove(const std::string& file) {
    gone_.insert(file);
    return {};
}

base::Status SearchFiles::flush() {
    std::erase_if(pending_, [&](const NamedBytes& one) { return gone_.contains(one.name); });
    WHEELYARD_ASSIGN(const bool changed, write_pages(disk_, folder_.native(), pending_, precompressed_));
    has_changed_ = has_changed_ || changed;
    if (is_new_) {
        for (const NamedBytes& one : pending_)
            written_.insert(one.name);
    }
    pending_.clear();
    places_.clear();
    return {};
}

base::Result<bool> SearchFiles::finish(const std::vector<NamedBytes>& pages) {
    pending_.insert(pending_.end(), pages.begin(), pages.end());
    WHEELYARD_TRY(flush());
    return has_changed_;
}

base::Status SearchFiles::remove_gone() {
    if (is_new_) {
        std::error_code error;
        for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
             entry.increment(error)) {
            std::string name = entry->path().filename().native();
            if (page::is_shard(name) && !written_.contains(name)) gone_.insert(std::move(name));
        }
        if (error) return base::fail_errno("readdir", folder_.native(), error.value());
    }
    for (const std::string& file : gone_)
        WHEELYARD_TRY(remove_page(disk_, folder_ / file));
    return gone_.empty() ? base::Status() : disk_.sync_directory(folder_.native());
}

}  // namespace wheelyard::indexer
