// The blobs of a backup, or of a data folder that is being restored: files under the names that
// `read_blob_store` reads. Nothing else is there yet, so nothing is staged or collected.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::blobs {

class SavedBlobs {
  public:
    // Makes the folder, for its owner only.
    [[nodiscard]] static base::Result<SavedBlobs> open(const std::filesystem::path& folder);

    // A blob gets its name only when it is complete.
    [[nodiscard]] std::optional<std::uint64_t> size_of(std::string_view sha256) const;
    // A blob that becomes durable, under its name, with commit(). The caller checks its hash before.
    [[nodiscard]] base::Result<base::FileReplacement> begin(std::string_view sha256) const;
    // False: it cannot be linked. Durable after the next sync_links().
    [[nodiscard]] bool link(const BlobStore& from, std::string_view sha256);
    [[nodiscard]] base::Status sync_links();

  private:
    explicit SavedBlobs(std::filesystem::path folder) : folder_(std::move(folder)) {}
    std::filesystem::path folder_;
    std::set<std::filesystem::path> linked_in_;
};

}  // namespace wheelyard::blobs
