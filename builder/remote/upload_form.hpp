// The upload form as one body whose every byte is the same each time it is made: what a server has of its
// beginning stays of use after a cut, a restart of either side, and a new start of the agent.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::builder {

// multipart/form-data (RFC 7578): the fields, then the file as "content". Read from the disk as it is sent.
class UploadForm final : public base::Reader {
  public:
    // `sha256` is the file's, in hex. It makes the boundary, which therefore stands in no file.
    [[nodiscard]] static base::Result<UploadForm> open(const std::vector<io::MultipartField>& fields,
                                                       const std::filesystem::path& file,
                                                       const std::string& sha256);

    [[nodiscard]] std::uint64_t size() const override {
        return before_.size() + file_.size() + after_.size();
    }
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;
    [[nodiscard]] const std::string& content_type() const { return content_type_; }
    // The same for the same bytes, hex: another version of this program may write other fields.
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
