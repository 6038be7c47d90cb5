// The cached pages of all upstreams: as files, and the recently used ones in memory. Thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/recently_used.hpp"

namespace wheelyard::registry {

using SharedPage = std::shared_ptr<const CachedPage>;

class PageStore {
  public:
    // `folder`: DIR/upstream; created when the first page is written.
    explicit PageStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // nullptr: none. An unreadable file is logged; what it had is unknown, but it had something. Notices what
    // other processes wrote.
    [[nodiscard]] SharedPage find(const std::string& cache_index, const std::string& project);
    // The same without files and pins, unless the project is absent: stays in memory longer. The same pointer
    // as long as the page is the same.
    [[nodiscard]] SharedPage head(const std::string& cache_index, const std::string& project);
    [[nodiscard]] std::uint64_t memory_bytes() const;
    // Durable on return. An absent project without earlier files is kept in memory only: anybody can ask for
    // any name. Who supplies the project and who released it stays as it is stored.
    [[nodiscard]] base::Status put(const std::string& cache_index, const std::string& project,
                                   CachedPage page);
    // Adds `indexes` to those that the page supplies, if it has files. Durable on return, with the page as it
    // is then.
    [[nodiscard]] base::Result<SharedPage> note_supply(const std::string& cache_index,
                                                       const std::string& project,
                                                       const std::vector<std::string>& indexes);
    // The next request for the page asks the upstream again: a file that it lists is another one by now.
    // Durable on return.
    [[nodiscard]] base::Status expire(const std::string& cache_index, const std::string& project);
    // Lets others supply the project, also while a server uses the same files. Pinned hashes stay.
    [[nodiscard]] base::Status release(const std::string& cache_index, const std::string& project,
                                       const std::string& reason, base::UnixMicros now);

    // METADATA of wheels that are not stored, and what the variants of versions are, by key_of_text();
    // nullptr: none with this hash. One is kept under each key, until put() or release() brings a page
    // without its file.
    [[nodiscard]] std::shared_ptr<const std::string> find_metadata(const std::string& cache_index,
                                                                   const std::string& key,
                                                                   const std::string& sha256) const;
    // The same with whatever bytes it has: attestations, whose hash no page gives.
    [[nodiscard]] std::shared_ptr<const std::string> find_text(const std::string& cache_index,
                                                               const std::string& key) const;
    [[nodiscard]] base::Status put_metadata(const std::string& cache_index, const std::string& key,
                                            std::string_view bytes) const;

  private:
    [[nodiscard]] std::filesystem::path page_file(const std::string& cache_index,
                                                  const std::string& project) const;
    [[nodiscard]] std::filesystem::path metadata_file(const std::string& cache_index,
                                                      const std::string& key) const;
    struct FileStamp {  // of the page's file; zeros: it has none
        std::int64_t modified_ns = 0;
        std::uint64_t inode = 0;
        std::int64_t size_bytes = 0;
        bool operator==(const FileStamp&) const = default;
    };
    struct Known {
        SharedPage page;
        FileStamp stamp;
    };
    [[nodiscard]] static FileStamp stamp_of(const std::filesystem::path& file);
    [[nodiscard]] std::mutex& write_mutex(const std::string& key);
    [[nodiscard]] base::Result<SharedPage> write(const std::string& cache_index, const std::string& project,
                                                 CachedPage page);
    void remove_texts(const std::string& cache_index, const CachedPage& before, const CachedPage& now) const;
    [[nodiscard]] static SharedPage head_of(const SharedPage& page);
    SharedPage remember(const std::string& key, Known known);  // the page's head

    const std::filesystem::path folder_;
    std::array<std::mutex, 16>
        write_mutexes_;  // each for the keys of one hash: reading, changing and writing is one step
    mutable std::mutex mutex_;
    RecentlyUsed<Known> heads_{max_heads_bytes};
    RecentlyUsed<Known> pages_{max_pages_bytes};
};

}  // namespace wheelyard::registry
