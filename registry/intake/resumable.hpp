// Resumable uploads on disk: the received part of the form, and a note about its owner.
//
//     resumable/<id>.note {"format":"wheelyard.resumable/1","index":…,"token":…,"owner":…,"content_type":…,"length":…}
//     resumable/<id>.body     append-only; its size after fsync is the acknowledged offset
//
// A complete form is passed to the upload service from its first byte, so that bytes received before a
// disconnect or restart are hashed and checked like any others. Nothing is trusted because it was stored
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "registry/access/tokens.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// Resumable uploads: incomplete forms that stay on disk across restarts. No other limit counts this disk
// space.
inline constexpr std::size_t max_resumable_uploads = 64;
inline constexpr std::size_t max_resumable_uploads_of_a_token = 16;  // no token can block all others
inline constexpr std::int64_t resumable_lifetime_s =
    3 * 24 * 3600;  // since its last byte; survives a weekend

// Thread-safe.
class Resumable final : public http::ResumableService {
  public:
    // Creates the folder and drops uploads without progress for resumable_lifetime_s. The arguments must
    // outlive the object.
    [[nodiscard]] static base::Result<std::unique_ptr<Resumable>> open(const std::filesystem::path& folder,
                                                                       blobs::DiskRoom room,
                                                                       http::UploadService& uploads,
                                                                       TokenVerifier& tokens,
                                                                       const base::Clock& clock);
    [[nodiscard]] wire::Answered<http::ResumableState> create(const http::UploadHead& head) override;
    [[nodiscard]] wire::Answered<http::ResumableState> find(const http::UploadHead& head,
                                                            const std::string& id) override;
    [[nodiscard]] wire::Answered<void> drop(const http::UploadHead& head, const std::string& id) override;
    [[nodiscard]] wire::Answered<std::unique_ptr<http::UploadRequest>> append(
        const http::UploadHead& head, const std::string& id, std::uint64_t offset_bytes) override;

  private:
    struct Note;
    Resumable(std::filesystem::path folder, blobs::DiskRoom room, http::UploadService& uploads,
              TokenVerifier& tokens, const base::Clock& clock)
        : folder_(std::move(folder)),
          room_(std::move(room)),
          uploads_(uploads),
          tokens_(tokens),
          clock_(clock) {}
    [[nodiscard]] wire::Answered<Note> read_note(const http::UploadHead& head, const std::string& id) const;
    using Owned = std::map<std::string, std::size_t>;  // token's name → number of unfinished uploads
    [[nodiscard]] Owned drop_expired() const;          // returns what remains
    [[nodiscard]] static std::string owner_of_note(const std::filesystem::path& stem);
    const std::filesystem::path folder_;
    const blobs::DiskRoom room_;
    http::UploadService& uploads_;
    TokenVerifier& tokens_;
    const base::Clock& clock_;
    std::mutex creating_;  // serializes create(), so that the limits hold
};

}  // namespace wheelyard::registry
