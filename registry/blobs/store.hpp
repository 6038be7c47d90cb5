// Content-addressed blobs on a local disk: `blobs/sha256/ab/<hash>`, mode 0444, staged on the same file
// system.
//
//     staging/<name>  ──write, hash, fsync──►  link or rename  ──fsync of the folder──►  blobs/sha256/ab/<hash>
//
// A blob without a catalog row is an orphan that gc collects; a catalog row always has its blob, because the
// blob is durable before the row is committed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::blobs {

class BlobStore;

// A blob being written. The destructor removes it unless it was stored.
class StagedBlob {
  public:
    StagedBlob(StagedBlob&& other) noexcept;
    StagedBlob& operator=(StagedBlob&&) noexcept = delete;
    StagedBlob(const StagedBlob&) = delete;
    StagedBlob& operator=(const StagedBlob&) = delete;
    ~StagedBlob();

    [[nodiscard]] base::Status write(std::string_view bytes);  // appends and hashes
    [[nodiscard]] std::uint64_t size() const { return size_; }
    // The SHA-256 (hex) of the written bytes. No write() after this.
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
    std::uint64_t written_back_ = 0;  // bytes for which writeback was started
};

struct StoredBlob {
    std::string sha256;
    std::uint64_t size_bytes = 0;
    base::UnixMicros stored = 0;  // when these bytes were stored last; storing them again counts
};

// Errors: those of the file system, with `os_error`. Thread-safe; other processes may add blobs at the same time.
class BlobStore {
  public:
    // Creates the folders where they are missing, removes what a crash left in staging and puts back what a
    // killed collection had taken out.
    [[nodiscard]] static base::Result<BlobStore> open(const std::filesystem::path& directory);
    [[nodiscard]] base::Result<StagedBlob> stage() const;
    // Durable when it returns: fsync, 0444, in place under its hash, folder fsynced. Returns the hash. Calls
    // finish() if the caller has not. If the blob exists, its bytes are compared, and bytes that have changed are
    // written again into the same file: its hard links in the published tree are repaired with it.
    [[nodiscard]] base::Result<std::string> store(StagedBlob&& staged) const;
    [[nodiscard]] base::Result<std::string> store_bytes(std::string_view bytes) const;
    // The blobs whose hash begins with these two digits, sorted by hash.
    [[nodiscard]] base::Result<std::vector<StoredBlob>> list(std::string_view two_digits) const;
    // Removes the blob unless its bytes were stored at or after `before`; true: removed. The caller
    // ensures that no row refers to it; collection.cpp explains why a concurrent upload is safe.
    [[nodiscard]] base::Result<bool> remove_if_stored_before(std::string_view sha256,
                                                             base::UnixMicros before) const;
    // Moves a blob whose bytes were found damaged to `damaged/<hash>` for inspection, where nothing serves it. Replaces
    // an earlier one. False: an upload has stored its bytes since `blob` was listed, and so repaired it; it stays.
    [[nodiscard]] base::Result<bool> isolate_damaged(const StoredBlob& blob) const;
    // Whether its bytes were stored again, or the blob was removed, since `blob` was listed.
    [[nodiscard]] bool has_changed(const StoredBlob& blob) const;
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
    [[nodiscard]] std::filesystem::path path_of(std::string_view sha256) const;
    [[nodiscard]] std::string path_text_of(
        std::string_view sha256) const;  // faster, for callers with millions of blobs
    // Whether the disk holds the blob and its bytes have this hash. Reads all of it.
    [[nodiscard]] bool is_intact(std::string_view sha256) const;
    [[nodiscard]] bool contains(std::string_view sha256) const;

  private:
    explicit BlobStore(std::filesystem::path directory);
    std::filesystem::path directory_;
    std::string root_;  // of the blobs' 256 folders, ends in '/'
};

}  // namespace wheelyard::blobs
