// Writes a ZIP file in the layout that zip.hpp accepts, from members of another one and from texts: packed
// bytes are copied as they are. ZIP64 is written where a value does not fit, and only there: from 4 GiB, or
// from 65,535 members on.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

class ZipWriter {
  public:
    using Write = std::function<base::Status(std::string_view)>;
    explicit ZipWriter(Write write) : write_(std::move(write)) {}

    // A member of `bytes` under the name that `member` has. It must be readable, and without a data
    // descriptor.
    [[nodiscard]] base::Status copy(const base::Reader& bytes, const Member& member);
    // `bytes` unpacked, with the time of `like`.
    [[nodiscard]] base::Status store(std::string name, std::string_view bytes, const Member& like);
    // Call once, at the end.
    [[nodiscard]] base::Status finish();

  private:
    [[nodiscard]] base::Status write(std::string_view bytes);
    [[nodiscard]] base::Status begin(const Member& member);

    Write write_;
    std::uint64_t written_ = 0;
    std::uint64_t members_ = 0;
    std::string directory_;
};

}  // namespace wheelyard::inspect
