// The files of one followed index in our tree: wheels with what lies beside them, the descriptions of variants, and the
// folder for --find-links.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "indexer/follow/followed_page.hpp"
#include "indexer/follow/followed_source.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// The size of METADATA, and of the provenance, beside a wheel.
inline constexpr std::uint64_t max_followed_metadata_bytes = 16 * base::mib;

class FollowedFiles {
  public:
    FollowedFiles(Disk& disk, FollowedSource& source, std::filesystem::path tree, std::string index,
                  bool find_links, base::KeepAlive keep_alive)
        : disk_(disk),
          source_(source),
          tree_(std::move(tree)),
          index_(std::move(index)),
          find_links_(find_links),
          keep_alive_(std::move(keep_alive)) {}

    [[nodiscard]] base::Status fetch(const FollowedPage& page);
    // Into the tree at once, not into memory: a page may name many. Each state has a folder of its own, so that the links
    // of the page that is still there keep working.
    [[nodiscard]] base::Status fetch_variants(const std::string& project, const FollowedPage& page);
    // Runs before the pages that list the same files, once per project.
    [[nodiscard]] base::Status sync_flat();
    // METADATA's Name decides about an attribute of HTML pages (simple_html.cpp). It is in our tree by now.
    void read_metadata_names(FollowedPage& page) const;
    // `keeps_name`: another file has the name now.
    [[nodiscard]] base::Status remove(const TreeFile& gone, bool keeps_name);

    [[nodiscard]] std::uint64_t fetched() const { return fetched_; }
    [[nodiscard]] std::uint64_t bytes_fetched() const { return bytes_fetched_; }
    [[nodiscard]] std::uint64_t removed() const { return removed_; }

  private:
    // A wheel's path contains its hash and files appear atomically, so an existing wheel is right if its size
    // is. METADATA, provenance and attestations have other hashes, and variants are small, so their content is
    // checked; their `size_bytes` is 0.
    [[nodiscard]] base::Status fetch_file(const std::filesystem::path& file, const std::string& path,
                                          const std::string& sha256, std::uint64_t size_bytes, bool& changed);
    [[nodiscard]] base::Status show_flat(const TreeFile& file);

    Disk& disk_;
    FollowedSource& source_;
    std::filesystem::path tree_;
    std::string index_;
    bool find_links_;
    base::KeepAlive keep_alive_;
    bool flat_changed_ = false;  // since the last sync
    std::uint64_t fetched_ = 0;
    std::uint64_t bytes_fetched_ = 0;
    std::uint64_t removed_ = 0;
};

}  // namespace wheelyard::indexer
