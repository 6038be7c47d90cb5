// One upload, and its body as it arrives: fields are collected, the file goes into staging.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/limits.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"
#include "registry/http/upload.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/multipart.hpp"
#include "registry/intake/uploads.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

// One upload as data: what its request says, what has come of its body, and what its steps found
// (upload_steps.hpp).
struct Upload {
    // The request.
    const std::string request_id;
    const std::string authorization;
    const IndexConfig& index;
    const Identity token;
    const base::UnixMicros started;

    // The body.
    UploadForm form = {};
    std::string filename_text = {};  // shortened and sanitized before the name is checked
    std::optional<UploadName> filename = {};
    std::optional<blobs::StagedBlob> staged = {};

    // The steps.
    std::uint64_t size_bytes = 0;
    std::string sha256 = {};
    std::string provenance = {};  // as it is stored; empty: none
    sigstore::FileProvenance attestations = {};
    Origin origin = {};
    bool is_repeated = false;  // the index has this file with the same bytes
    std::optional<inspect::Inspection> inspection = {};
    catalog::FileRow row = {};  // what is committed; of a repeated upload the earlier one
    http::UploadDone done = {};
};

// Other files, such as gpg_signature: read and discarded.
inline constexpr std::uint64_t max_other_file_bytes = base::mib;

// Refuses at the first part that no further bytes can make good.
class UploadBody final : private MultipartHandler {
  public:
    // Fills form, filename and staged of `upload`. The references outlive the object.
    UploadBody(Upload& upload, const UploadParts& parts, std::string_view boundary)
        : upload_(upload), parts_(parts), parser_(boundary, *this) {}
    [[nodiscard]] wire::Answered<void> feed(std::string_view bytes) { return parser_.feed(bytes); }
    [[nodiscard]] wire::Answered<void> finish() const { return parser_.finish(); }

  private:
    wire::Answered<void> field(std::string_view name, std::string_view value) override;
    wire::Answered<void> file_begin(std::string_view name, std::string_view filename) override;
    wire::Answered<void> file_bytes(std::string_view bytes) override;
    wire::Answered<void> file_end() override { return {}; }
    [[nodiscard]] wire::Answered<void> check_permitted();

    Upload& upload_;
    const UploadParts& parts_;
    MultipartParser parser_;
    bool in_content_ = false;
    std::uint64_t other_file_bytes_ = 0;
};

}  // namespace wheelyard::registry
