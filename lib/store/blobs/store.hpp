// Content-addressed blobs: bytes under their SHA-256, durable before anything refers to them.
//
//     stage() ──write, hash, inspect──► store(): durable ──► open(), link_into() ──► remove_if_stored_before()
//
// A blob without a catalog row is an orphan that gc collects; a catalog row always has its blob, because the
// blob is durable before the row is committed. The hash is always counted from the bytes, so no bytes come
// under another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/base/spent.hpp"

namespace wheelyard::blobs {

// The destructor removes the file: a store that keeps it as the blob has given it another name.
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
    // What is written so far. The descriptor also sees what comes later.
    [[nodiscard]] base::Result<base::FileReader> read() const { return base::FileReader::open(path_); }
    [[nodiscard]] base::Result<base::Fd> open() const { return base::open_read(path_); }

    // For stores whose blobs are files beside it: the bytes and this mode are durable, under no lasting name
    // yet.
    [[nodiscard]] base::Status make_durable(mode_t mode) const;
    // One more name for the file. `os_error` is that of link(2).
    [[nodiscard]] base::Status link_as(const std::filesystem::path& target) const;

  private:
    friend class Staging;
    StagedBlob(std::filesystem::path path, base::Fd fd);
    std::filesystem::path path_;
    base::Fd fd_;
    base::Digest sha256_;
    std::string digest_;
    std::uint64_t size_ = 0;
    std::uint64_t written_back_ = 0;  // bytes for which writeback was started
};

class Staging {
  public:
    // Creates the folder where it is missing and removes what a crash left there.
    [[nodiscard]] static base::Result<Staging> open(const std::filesystem::path& data);
    // Neither. One that was not opened cannot stage where the folder is missing.
    explicit Staging(const std::filesystem::path& data) : folder_(data / "staging") {}

    [[nodiscard]] base::Result<StagedBlob> stage() const;

  private:
    std::filesystem::path folder_;
};

struct Place {
    Place(std::filesystem::path data)
        : folder(std::move(data)) {}  // NOLINT(google-explicit-constructor): files in it
    Place(std::filesystem::path data, std::string s3_url) : folder(std::move(data)), url(std::move(s3_url)) {}

    std::filesystem::path folder;      // the data folder
    std::string url = {};              // "s3://BUCKET/PREFIX"; empty: files of the folder
    std::string endpoint = {};         // "https://…" for this process; empty: Amazon's of the region
    std::string public_endpoint = {};  // the same for clients; empty: they get no URL of the store
    std::string region = {};           // empty: us-east-1
    bool path_style = false;           // the bucket is part of the path, not of the host's name
    std::filesystem::path credentials_file = {};  // empty: from the environment

    // For messages: "s3://BUCKET/PREFIX at https://…" or the folder.
    [[nodiscard]] std::string text() const {
        if (url.empty()) return (folder / "blobs").string();
        return url + (endpoint.empty() ? "" : " at " + endpoint);
    }
};

struct StoredBlob {
    std::string sha256;
    std::uint64_t size_bytes = 0;
    base::UnixMicros stored = 0;  // when these bytes were stored last; storing them again counts
};

// `medium`: past any cache, and over connections of its own. Bytes in memory say nothing about those on the
// disk.
enum class ReadFrom { cache, medium };

// Takes the bytes of a blob in order; an error ends the reading and is its result.
using TakeBytes = std::function<base::Status(std::string_view bytes)>;

// Thread-safe; other processes may add blobs at the same time. Errors have `os_error`; of a blob that is not
// there it is ENOENT. A name that is no SHA-256 is a bug of the caller.
class BlobStore {
  public:
    static constexpr std::uint64_t max_identity_bytes = 64u << 10;

    virtual ~BlobStore() = default;

    [[nodiscard]] base::Result<StagedBlob> stage() const { return staging_.stage(); }
    // Durable when it returns the hash. Calls finish() if the caller has not. If the blob exists, its bytes
    // are compared, and bytes that have changed are repaired, also where the blob was linked to.
    [[nodiscard]] virtual base::Result<std::string> store(StagedBlob&& staged) const = 0;

    // A reader goes on to the end of the bytes that it found, also if the blob is removed meanwhile; of a
    // store without files, if the blob is small: else its next read is ENOENT. Of the medium:
    // ErrorKind::malformed if it has something other than bytes in the place of the blob.
    [[nodiscard]] virtual base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                                           ReadFrom from) const = 0;
    // Hard-links `path`, relative to the open `folder` (or AT_FDCWD), to the blob. `os_error` is that of
    // link(2), and EOPNOTSUPP where the store has no files: then copy what open() reads. Of ENOENT, `value`
    // says where the blob should be.
    [[nodiscard]] virtual base::Status link_into(std::string_view sha256, int folder,
                                                 const char* path) const = 0;

    [[nodiscard]] virtual base::Result<std::optional<StoredBlob>> find(std::string_view sha256) const = 0;
    // The blobs whose hash begins with these two digits, sorted by hash.
    [[nodiscard]] virtual base::Result<std::vector<StoredBlob>> list(std::string_view two_digits) const = 0;

    // Removes the blob unless its bytes were stored at or after `before`; true: removed. The caller ensures
    // that no row refers to it. An upload that stores the same bytes at the same time keeps them.
    [[nodiscard]] virtual base::Result<bool> remove_if_stored_before(std::string_view sha256,
                                                                     base::UnixMicros before) const = 0;

    // The document beside the blobs that says whose they are (lifecycle/store_identity.hpp). Written as a
    // whole, durable on return.
    [[nodiscard]] virtual base::Status write_identity(std::string_view document) const = 0;
    [[nodiscard]] virtual base::Result<std::string> read_identity() const = 0;

    // The published tree holds only the sizes of the files of a store that serves them: a client gets the
    // URL, or the server passes the bytes on.
    [[nodiscard]] virtual bool serves_files() const { return false; }
    // A URL from which anybody who has it gets the blob under `filename`, for a limited time. The same for
    // some minutes, so that clients' caches find it again. nullopt: clients do not reach the store.
    [[nodiscard]] virtual std::optional<std::string> url_for(std::string_view sha256,
                                                             std::string_view filename) const;
    // Passes exactly these bytes on.
    [[nodiscard]] virtual base::Status stream(std::string_view sha256, std::uint64_t offset,
                                              std::uint64_t length, const TakeBytes& take) const;
    // The process stops: from now on requests that nothing answers end after a few seconds, and none is
    // repeated.
    virtual void stop_waiting() const {}
    // Removes what uploads that never ended have left in the store; how many. Those of the last day stay.
    [[nodiscard]] virtual base::Result<std::size_t> drop_unfinished() const { return std::size_t{0}; }

    struct Requests {
        base::Spent::Sum spent = {};
        std::uint64_t failed = 0;  // without an answer, or with an error that says nothing of the blob
    };
    // Since the store was opened; each try counts. nullopt: the blobs are files.
    [[nodiscard]] virtual std::optional<Requests> requests() const { return std::nullopt; }

    // Made of these operations:
    [[nodiscard]] base::Result<std::string> store_bytes(std::string_view bytes) const;
    // A blob of more than `limit_bytes` is an error.
    [[nodiscard]] base::Result<std::string> read_bytes(std::string_view sha256,
                                                       std::uint64_t limit_bytes) const;
    [[nodiscard]] bool contains(std::string_view sha256) const;
    // Says whether the blob is there and its bytes have this hash. Reads all of it, from the medium.
    [[nodiscard]] bool is_intact(std::string_view sha256) const;
    // Says whether its bytes were stored again, or the blob was removed, since `blob` was listed.
    [[nodiscard]] base::Result<bool> has_changed(const StoredBlob& blob) const;

  protected:
    explicit BlobStore(Staging staging) : staging_(std::move(staging)) {}
    BlobStore(BlobStore&&) = default;
    BlobStore& operator=(BlobStore&&) = default;

  private:
    Staging staging_;
};

// Calls `use` with the first two digits of the hashes, "00" to "ff", until it returns an error. What runs
// over all blobs so needs the memory of one 256th of them.
template <typename Use>
base::Status for_each_two_digits(Use use) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const char first : digits) {
        for (const char second : digits)
            WHEELYARD_TRY(use(std::string{first, second}));
    }
    return {};
}

// The blobs of a registry: the one place that chooses their store.
[[nodiscard]] base::Result<std::unique_ptr<BlobStore>> open_blob_store(const Place& place);
// The same for reading, also those of a backup: creates, repairs and removes nothing.
[[nodiscard]] base::Result<std::unique_ptr<BlobStore>> read_blob_store(const Place& place);

}  // namespace wheelyard::blobs
