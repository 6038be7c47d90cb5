// Resumable uploads on disk: the form as far as it has come, beside a note about whose it is.
//
//     resumable/<id>.note {"format":"wheelyard.resumable/1","index":…,"token":…,"content_type":…,"length":…}
//     resumable/<id>.body     appended to; its size, after fsync, is the offset that is acknowledged
//
// A whole form is fed to the service for uploads from its first byte: so every byte that was sent before a
// cut or a restart is hashed and checked as any other is, and nothing about it is trusted because it lay
// here.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/http/resumable.hpp"

namespace wheelyard::registry {

class Resumable final : public http::ResumableService {
  public:
    // Makes the folder; drops what nobody has continued for resumable_lifetime_s. Everything outlives it.
    [[nodiscard]] static base::Result<std::unique_ptr<Resumable>> open(const std::filesystem::path& folder,
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
    Resumable(std::filesystem::path folder, http::UploadService& uploads, TokenVerifier& tokens,
              const base::Clock& clock)
        : folder_(std::move(folder)), uploads_(uploads), tokens_(tokens), clock_(clock) {}
    [[nodiscard]] wire::Answered<Note> read_note(const http::UploadHead& head, const std::string& id) const;
    using Owned = std::map<std::string, std::size_t>;  // a token's id → how many are on their way
    [[nodiscard]] Owned drop_expired() const;          // what is left
    [[nodiscard]] static std::string token_of_note(const std::filesystem::path& stem);
    const std::filesystem::path folder_;
    http::UploadService& uploads_;
    TokenVerifier& tokens_;
    const base::Clock& clock_;
    std::mutex creating_;  // so that the bound on their number holds
};

}  // namespace wheelyard::registry
