// The UploadService of this registry: credentials, form, staging, inspection, blob, row, page. What each step
// refuses, and with which words, stands in validation.cpp.
#pragma once

#include <memory>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

// Everything outlives the service, and the service outlives its requests.
struct UploadParts {
    const RegistryConfig& config;
    const blobs::BlobStore& blobs;
    TokenVerifier& tokens;
    Writer& writer;
    PublishQueue& pages;
    const base::Clock& clock;
    unsigned inspect_threads = 1;       // of one upload
    tasks::TaskStore* tasks = nullptr;  // where grants are used up
};

class Uploads final : public http::UploadService {
  public:
    explicit Uploads(const UploadParts& parts) : parts_(parts) {}
    [[nodiscard]] wire::Answered<std::unique_ptr<http::UploadRequest>> begin(
        const http::UploadHead& head) override;

  private:
    UploadParts parts_;
};

// What an unexpected failure becomes: 507 for a full disk, 503 where a retry helps, else 500. The error
// itself goes to the log only.
[[nodiscard]] wire::Problem problem_of_failure(const base::Error& error);

}  // namespace wheelyard::registry
