// Blobs as files of the data folder: `blobs/sha256/ab/<hash>`, mode 0444, staged on the same file system.
//
//     staging/<name>  ──write, hash, fsync──►  link  ──fsync of the folder──►  blobs/sha256/ab/<hash>
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::blobs {

class FolderBlobs final : public BlobStore {
  public:
    // Creates the folders where they are missing, removes what a crash left in staging and puts back what a
    // killed collection had taken out.
    [[nodiscard]] static base::Result<FolderBlobs> open(const std::filesystem::path& directory);
    // Changes nothing; what is stored or removed through it is an error where a folder is missing.
    [[nodiscard]] static FolderBlobs read(const std::filesystem::path& directory);

    // The file is linked, so no byte is copied. Bytes that differ from those of an existing file are written
    // again into that file: its hard links in the published tree are repaired with it.
    [[nodiscard]] base::Result<std::string> store(StagedBlob&& staged) const override;
    [[nodiscard]] base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                                   ReadFrom from) const override;
    [[nodiscard]] base::Status link_into(std::string_view sha256, int folder,
                                         const char* path) const override;
    [[nodiscard]] base::Result<std::optional<StoredBlob>> find(std::string_view sha256) const override;
    [[nodiscard]] base::Result<std::vector<StoredBlob>> list(std::string_view two_digits) const override;
    // collection.cpp explains why a concurrent upload is safe.
    [[nodiscard]] base::Result<bool> remove_if_stored_before(std::string_view sha256,
                                                             base::UnixMicros before) const override;

    [[nodiscard]] base::Status write_identity(std::string_view document) const override;
    [[nodiscard]] base::Result<std::string> read_identity() const override;

    // For tests, which damage the file.
    [[nodiscard]] std::filesystem::path path_of(std::string_view sha256) const;

  private:
    FolderBlobs(std::filesystem::path directory, Staging staging, base::Fd root);
    std::filesystem::path directory_;
    base::Fd root_;  // blobs/sha256: saves a path walk for each of millions of links; empty if it is missing
};

inline constexpr mode_t stored_mode = 0444;

[[nodiscard]] inline std::filesystem::path root_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "sha256";
}
[[nodiscard]] inline std::filesystem::path file_of(const std::filesystem::path& directory,
                                                   std::string_view sha256) {
    return root_of(directory) / sha256.substr(0, 2) / sha256;
}
[[nodiscard]] inline std::filesystem::path identity_of(const std::filesystem::path& directory) {
    return directory / "blobs" / "registry.json";
}
// Puts back blobs that a killed collection left in `collecting/`.
[[nodiscard]] base::Status put_back_collecting(const std::filesystem::path& directory);

}  // namespace wheelyard::blobs
