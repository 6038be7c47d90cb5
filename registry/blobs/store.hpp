// Content-addressed blobs on a local disk: `blobs/sha256/ab/<hash>`, mode 0444, staged on the same file
// system.
//
//     staging/<name>  ──write, hash, fsync──►  blobs/sha256/ab/<hash>  (link or rename, then fsync of the
//     folder)
//
// A blob without a catalog row is an orphan that gc collects; a catalog row always has its blob, because the
// blob is durable before the row is committed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/digest.hpp"
#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::blobs {

class BlobStore;

// Bytes on their way in. The destructor removes what was not stored.
class StagedBlob {
  public:
    StagedBlob(StagedBlob&& other) noexcept;
    StagedBlob& operator=(StagedBlob&&) noexcept = delete;
    StagedBlob(const StagedBlob&) = delete;
    StagedBlob& operator=(const StagedBlob&) = delete;
    ~StagedBlob();

    [[nodiscard]] base::Status write(std::string_view bytes);  // appends and hashes
    [[nodiscard]] std::uint64_t size() const { return size_; }
    // The SHA-256 (hex) of all that was written; ends writing.
    [[nodiscard]] const std::string& finish();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  private:
    friend class BlobStore;
    StagedBlob(std::filesystem::path path, base::Fd fd);
    std::filesystem::path path_;
    base::Fd fd_;
    base::Digest sha256_;
    std::string digest_;
    std::uint64_t size_ = 0;
    std::uint64_t written_back_ = 0;  // how much the kernel has been asked to write
};

class BlobStore {
  public:
    // Creates the folders where they are missing and removes what a crash left in staging.
    [[nodiscard]] static base::Result<BlobStore> open(const std::filesystem::path& directory);
    [[nodiscard]] base::Result<StagedBlob> stage() const;
    // Durable when it returns: fsync, 0444, in place under its hash, folder fsynced. Storing bytes that are
    // there is fine. Returns the hash. Calls finish() if the caller has not.
    [[nodiscard]] base::Result<std::string> store(StagedBlob&& staged) const;
    [[nodiscard]] base::Result<std::string> store_bytes(std::string_view bytes) const;
    [[nodiscard]] std::filesystem::path path_of(std::string_view sha256) const;
    [[nodiscard]] bool contains(std::string_view sha256) const;

  private:
    explicit BlobStore(std::filesystem::path directory) : directory_(std::move(directory)) {}
    std::filesystem::path directory_;
};

}  // namespace wheelyard::blobs
