// A second kind of blob store, for tests: it stages in a folder, as a store on another machine does, and has no files of
// its own. What a caller does with it is what it may expect of any store.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/check.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/store/blobs/store.hpp"

namespace wheelyard::blobs {

class MemoryBlobs : public BlobStore {
  public:
    static base::Result<MemoryBlobs> open(const std::filesystem::path& data) {
        WHEELYARD_ASSIGN(Staging staging, Staging::open(data));
        return MemoryBlobs(std::move(staging));
    }

    base::Result<std::string> store(StagedBlob&& staged) const override {
        StagedBlob owned = std::move(staged);
        const std::string sha256 = owned.finish();
        WHEELYARD_ASSIGN(const base::FileReader reader, owned.read());
        auto bytes = std::make_shared<std::string>(static_cast<std::size_t>(reader.size()), '\0');
        WHEELYARD_TRY(reader.read_at(0, bytes->data(), bytes->size()));
        const std::lock_guard lock(kept_->mutex);
        kept_->blobs[sha256] = {std::move(bytes), now()};
        return sha256;
    }
    base::Result<std::unique_ptr<base::Reader>> open(std::string_view sha256, ReadFrom) const override {
        const std::lock_guard lock(kept_->mutex);
        const auto blob = at(sha256);
        if (blob == kept_->blobs.end()) return base::fail_errno("open", sha256, ENOENT);
        return std::make_unique<SharedReader>(blob->second.bytes);
    }
    base::Status link_into(std::string_view sha256, int, const char*) const override {
        return base::fail_errno("link", sha256, EOPNOTSUPP);
    }
    base::Result<std::optional<StoredBlob>> find(std::string_view sha256) const override {
        const std::lock_guard lock(kept_->mutex);
        const auto blob = at(sha256);
        if (blob == kept_->blobs.end()) return std::nullopt;
        return described(*blob);
    }
    base::Status write_identity(std::string_view document) const override {
        const std::lock_guard lock(kept_->mutex);
        kept_->identity = document;
        return {};
    }
    base::Result<std::string> read_identity() const override {
        const std::lock_guard lock(kept_->mutex);
        if (kept_->identity.empty()) return base::fail_errno("open", "registry.json", ENOENT);
        return kept_->identity;
    }
    base::Result<std::vector<StoredBlob>> list(std::string_view two_digits) const override {
        const std::lock_guard lock(kept_->mutex);
        std::vector<StoredBlob> found;
        for (const auto& blob : kept_->blobs) {
            if (blob.first.starts_with(two_digits)) found.push_back(described(blob));
        }
        return found;
    }
    base::Result<bool> remove_if_stored_before(std::string_view sha256,
                                               base::UnixMicros before) const override {
        const std::lock_guard lock(kept_->mutex);
        const auto blob = at(sha256);
        if (blob == kept_->blobs.end() || blob->second.stored >= before) return false;
        kept_->blobs.erase(blob);
        return true;
    }

    bool serves = false;  // as a bucket does
    bool serves_files() const override { return serves; }

    // As a disk does it: the time stays.
    void damage(std::string_view sha256, std::string bytes) const {
        const std::lock_guard lock(kept_->mutex);
        at(sha256)->second.bytes = std::make_shared<std::string>(std::move(bytes));
    }

  private:
    using Bytes = std::shared_ptr<const std::string>;
    struct Blob {
        Bytes bytes;
        base::UnixMicros stored = 0;
    };
    using Blobs = std::map<std::string, Blob, std::less<>>;
    struct Kept {
        std::mutex mutex;
        Blobs blobs;
        std::string identity;
    };
    class SharedReader final : public base::Reader {
      public:
        explicit SharedReader(Bytes bytes) : bytes_(std::move(bytes)) {}
        std::uint64_t size() const override { return bytes_->size(); }
        base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override {
            return base::MemoryReader(*bytes_).read_at(offset, into, length);
        }

      private:
        Bytes bytes_;
    };

    explicit MemoryBlobs(Staging staging) : BlobStore(std::move(staging)) {}
    Blobs::iterator at(std::string_view sha256) const {
        WHEELYARD_CHECK(base::is_sha256_hex(sha256));
        return kept_->blobs.find(sha256);
    }
    static StoredBlob described(const Blobs::value_type& blob) {
        return {blob.first, blob.second.bytes->size(), blob.second.stored};
    }
    static base::UnixMicros now() {
        return std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }

    std::unique_ptr<Kept> kept_ = std::make_unique<Kept>();
};

}  // namespace wheelyard::blobs
