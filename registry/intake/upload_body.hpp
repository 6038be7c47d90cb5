// The body of an upload as it arrives: fields are collected, the file goes into staging. Refuses at the first part that no
// further bytes can make good.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/base/limits.hpp"
#include "registry/intake/multipart.hpp"
#include "registry/intake/upload.hpp"
#include "registry/intake/uploads.hpp"

namespace wheelyard::registry {

// Other files, such as gpg_signature: read and discarded.
inline constexpr std::uint64_t max_other_file_bytes = base::mib;

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

    Upload& upload_;
    const UploadParts& parts_;
    MultipartParser parser_;
    bool in_content_ = false;
    std::uint64_t other_file_bytes_ = 0;
};

}  // namespace wheelyard::registry
