// The upload service of this registry: credentials, form, staging, inspection, blob, row, page.
// validation.cpp defines what each step refuses and its messages.
#pragma once

#include <memory>

#include "lib/attest/keys.hpp"
#include "lib/attest/sigstore/trusted_root.hpp"
#include "lib/base/clock.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "registry/access/tokens.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// Every referenced object outlives the service, and the service outlives its requests.
struct UploadParts {
    ConfigView config;
    const blobs::BlobStore& blobs;
    const blobs::DiskRoom& room;  // of the store's disk
    TokenVerifier& tokens;
    Writer& writer;
    PublishQueue& pages;
    const base::Clock& clock;
    unsigned inspect_threads = 1;                                          // per upload
    tasks::TaskStore* tasks = nullptr;                                     // null: no tasks
    const attest::SigningKey* signing_key = nullptr;                       // null: nothing is signed
    const sigstore::TrustedRoot* trusted_root = &sigstore::public_root();  // of attestations
};

class Uploads final : public http::UploadService {
  public:
    explicit Uploads(const UploadParts& parts) : parts_(parts) {}
    [[nodiscard]] wire::Answered<std::unique_ptr<http::UploadRequest>> begin(
        const http::UploadHead& head) override;

  private:
    UploadParts parts_;
};

enum class Attempted { upload, change, task };

// Maps an unexpected failure to a problem: 507 for a full disk, 503 if a retry helps, otherwise 500, with a
// code of what was attempted. The error itself goes to the log only.
[[nodiscard]] wire::Problem problem_of_failure(const base::Error& error,
                                               Attempted attempted = Attempted::upload);

}  // namespace wheelyard::registry
