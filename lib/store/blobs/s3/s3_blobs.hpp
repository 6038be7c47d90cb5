// Blobs as objects of an S3 bucket, for several machines over one store.
//
//     PREFIX/sha256/ab/<hash>     a blob; its hash is the signed hash of the request's payload
//     PREFIX/dying/<hash>         is about to be removed (s3_blobs.cpp)
//     PREFIX/registry.json        whose blobs these are (lifecycle/store_identity.hpp)
//
// Staging is in the data folder: bytes are hashed and inspected there. An object that is stored again is
// written again, which repairs it.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/store/blobs/s3/client.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::blobs {

// The keys of the objects, below the prefix.
inline constexpr std::string_view blob_keys = "sha256/";
inline constexpr std::string_view dying_keys = "dying/";
inline constexpr std::string_view identity_key = "registry.json";

[[nodiscard]] inline std::string key_of(std::string_view sha256) {
    return std::string(blob_keys).append(sha256.substr(0, 2)).append("/").append(sha256);
}
[[nodiscard]] inline std::string dying_key_of(std::string_view sha256) {
    return std::string(dying_keys).append(sha256);
}

struct S3BlobLimits {                            // tests have other ones
    std::uint64_t max_single_bytes = 64u << 20;  // larger blobs are sent in parts
    std::uint64_t part_bytes = 64u << 20;        // at least 5 MiB; at most 10,000 of them
    std::int64_t removal_wait_ms = 250;          // between two looks at a removal under way
};

class S3Blobs final : public BlobStore {
  public:
    // Makes no request: a server starts, and serves its pages, while the store is down.
    [[nodiscard]] static base::Result<std::unique_ptr<S3Blobs>> open(const Place& place);
    // Changes nothing in the folder.
    [[nodiscard]] static base::Result<std::unique_ptr<S3Blobs>> read(const Place& place);
    S3Blobs(Staging staging, std::unique_ptr<S3Client> client, S3BlobLimits limits = {});

    [[nodiscard]] base::Result<std::string> store(StagedBlob&& staged) const override;
    // Reads ahead where it is read in order. Small blobs are read whole by this call. Of the medium: each
    // part over a connection of its own.
    [[nodiscard]] base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256,
                                                                   ReadFrom from) const override;
    [[nodiscard]] base::Status link_into(std::string_view sha256, int folder,
                                         const char* path) const override;
    [[nodiscard]] base::Result<std::optional<StoredBlob>> find(std::string_view sha256) const override;
    [[nodiscard]] base::Result<std::vector<StoredBlob>> list(std::string_view two_digits) const override;
    [[nodiscard]] base::Result<bool> remove_if_stored_before(std::string_view sha256,
                                                             base::UnixMicros before) const override;
    [[nodiscard]] base::Status write_identity(std::string_view document) const override;
    [[nodiscard]] base::Result<std::string> read_identity() const override;
    [[nodiscard]] bool serves_files() const override { return true; }
    [[nodiscard]] std::optional<std::string> url_for(std::string_view sha256,
                                                     std::string_view filename) const override;
    [[nodiscard]] base::Status stream(std::string_view sha256, std::uint64_t offset, std::uint64_t length,
                                      const TakeBytes& take) const override;
    void stop_waiting() const override { client_->stop_waiting(); }
    [[nodiscard]] base::Result<std::size_t> drop_unfinished() const override;
    [[nodiscard]] std::optional<Requests> requests() const override { return client_->requests(); }

  private:
    [[nodiscard]] base::Status put(const std::string& key, const StagedBlob& staged,
                                   const std::string& sha256) const;
    // "s3.wrong_size"
    [[nodiscard]] base::Status check_size(const std::string& key, std::uint64_t size) const;
    [[nodiscard]] base::Status put_parts(const std::string& key, const base::Reader& bytes) const;
    // s3_blobs.cpp
    [[nodiscard]] base::Result<bool> is_marked(const std::string& sha256) const;
    // True: a removal was under way, and the bytes have to be stored again.
    [[nodiscard]] base::Result<bool> was_dying(const std::string& sha256) const;

    // All blobs, where the store lists them in one answer; taken with the first part of a round.
    struct FewBlobs {
        std::optional<std::vector<S3Object>> objects = {};
        std::chrono::steady_clock::time_point taken = {};
    };
    [[nodiscard]] base::Result<std::vector<S3Object>> list_part(std::string_view two_digits) const;

    std::shared_ptr<const S3Client> client_;  // readers share it
    std::unique_ptr<std::mutex> few_mutex_ = std::make_unique<std::mutex>();
    mutable FewBlobs few_;  // guarded by few_mutex_
    S3BlobLimits limits_;
    std::unique_ptr<std::mutex> removal_ = std::make_unique<std::mutex>();
};

}  // namespace wheelyard::blobs
