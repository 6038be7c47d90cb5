// Unpacks a compressed offload bundle lazily, up to the highest offset that is read.
//
// Bounded for any stream: unpacks and holds at most max_bundle_table_bytes; zstd's window takes at most
// max_zstd_window, of which only the used part becomes resident.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

class PackedBundle final : public base::Reader {
  public:
    // The stream is `packed_bytes` of `bytes` at `offset`; `unpacked_bytes` is the size that its header
    // declares.
    PackedBundle(const base::Reader& bytes, std::uint64_t offset, std::uint64_t packed_bytes,
                 std::uint16_t method, std::uint64_t unpacked_bytes);
    PackedBundle(const PackedBundle&) = delete;
    PackedBundle& operator=(const PackedBundle&) = delete;
    ~PackedBundle() override;

    // Why this build cannot unpack the compression method; empty if it can.
    [[nodiscard]] std::string why_unreadable() const;

    // The number of bytes unpacked so far.
    [[nodiscard]] std::uint64_t unpacked_so_far() const;

    [[nodiscard]] std::uint64_t size() const override { return unpacked_bytes_; }
    // Error "gpu.malformed" if the stream is damaged or too short.
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    struct Stream;
    [[nodiscard]] base::Status unpack_more() const;

    const base::Reader& bytes_;
    std::uint64_t begin_;
    std::uint64_t packed_bytes_;
    std::uint16_t method_;
    std::uint64_t unpacked_bytes_;
    std::unique_ptr<Stream> stream_;  // null if the method is not supported
};

}  // namespace wheelyard::inspect
