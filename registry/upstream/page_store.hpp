// The cached pages of all upstreams: as files, and the recently used ones in memory. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "registry/upstream/cached_page.hpp"

namespace wheelyard::registry {

using SharedPage = std::shared_ptr<const CachedPage>;

class PageStore {
  public:
    // `folder`: DIR/upstream; created when the first page is written.
    explicit PageStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Removes what killed writers left. For the one process that writes.
    [[nodiscard]] base::Status remove_leftovers() const;
    // nullptr: none. An unreadable file is logged and counts as none.
    [[nodiscard]] SharedPage find(const std::string& cache_index, const std::string& project);
    // Durable on return. An absent project without earlier files is kept in memory only: anybody can ask for any name.
    [[nodiscard]] base::Status put(const std::string& cache_index, const std::string& project,
                                   CachedPage page);

    // METADATA of wheels that are not stored, by its hash; nullptr: none.
    [[nodiscard]] std::shared_ptr<const std::string> find_metadata(const std::string& cache_index,
                                                                   const std::string& sha256) const;
    [[nodiscard]] base::Status put_metadata(const std::string& cache_index, const std::string& sha256,
                                            std::string_view bytes) const;

  private:
    [[nodiscard]] std::filesystem::path page_file(const std::string& cache_index,
                                                  const std::string& project) const;
    [[nodiscard]] std::filesystem::path metadata_file(const std::string& cache_index,
                                                      const std::string& sha256) const;
    void remember(const std::string& key, SharedPage page);

    const std::filesystem::path folder_;
    std::mutex mutex_;
    std::map<std::string, SharedPage> pages_;
    std::uint64_t bytes_ = 0;  // of pages_, estimated
};

}  // namespace wheelyard::registry
