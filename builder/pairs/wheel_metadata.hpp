// The METADATA of a wheel of an index, without downloading the wheel: its `.metadata` file (PEP 658), else the ends of the
// archive by ranges of bytes (RFC 9110), since many mirrors serve no such files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/io/http_client.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t max_metadata_directory_bytes = 32u
                                                              << 20;  // central directory; torch has 1.5 MiB
inline constexpr std::uint64_t range_bytes = 64 * 1024;               // minimum of one request

// A file of a web server that answers ranges. Keeps the latest range: one object for one reader.
class RangeReader final : public base::Reader {
  public:
    // Error "pairs.no_ranges": the server answers the whole file.
    [[nodiscard]] static base::Result<RangeReader> open(io::HttpClient& http, const std::string& url);
    [[nodiscard]] std::uint64_t size() const override { return size_; }
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    RangeReader(io::HttpClient& http, std::string url) : http_(&http), url_(std::move(url)) {}
    [[nodiscard]] base::Status fetch(const std::string& range) const;

    io::HttpClient* http_;
    std::string url_;
    std::uint64_t size_ = 0;
    mutable std::uint64_t kept_at_ = 0;
    mutable std::string kept_;
};

// *.dist-info/METADATA of a ZIP archive. Errors: "pairs.no_metadata", those of the reader and of inspect::read_member.
[[nodiscard]] base::Result<std::string> metadata_in(const base::Reader& wheel);

// `folder`: where a file without a URL lies.
[[nodiscard]] base::Result<std::string> metadata_of(io::HttpClient& http, const simple::FileLink& wheel,
                                                    const std::filesystem::path& folder);

}  // namespace wheelyard::builder
