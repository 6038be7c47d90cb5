// The upload form as one deterministic body: the same input gives the same bytes. A server can therefore
// continue a partial upload after a cut or a restart of either side.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// multipart/form-data (RFC 7578): the fields, then the file as "content", which is read from disk during the
// upload.
class UploadForm final : public base::Reader {
  public:
    // `sha256` is the file's digest in hex. It is also the boundary, because no file contains its own digest.
    // Errors: the file cannot be opened. read_at() returns "file.truncated" where it has become shorter.
    [[nodiscard]] static base::Result<UploadForm> open(const std::vector<io::MultipartField>& fields,
                                                       const std::filesystem::path& file,
                                                       const std::string& sha256);

    [[nodiscard]] std::uint64_t size() const override {
        return before_.size() + file_.size() + after_.size();
    }
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;
    [[nodiscard]] const std::string& content_type() const { return content_type_; }
    // Identifies the form's bytes, in hex. Another version of this program may write other fields.
    [[nodiscard]] const std::string& digest() const { return digest_; }

  private:
    explicit UploadForm(base::FileReader file) : file_(std::move(file)) {}
    base::FileReader file_;
    std::string before_;
    std::string after_;
    std::string content_type_;
    std::string digest_;
};

}  // namespace wheelyard::builder
