// The unpacked bytes of a compressed offload bundle, as far as they are asked for and no further.
//
// Bounded whatever the stream says: at most max_bundle_table_bytes are unpacked and held; zstd's window, of
// which only what is unpacked is touched, at most max_zstd_window.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::inspect {

class PackedBundle final : public base::Reader {
  public:
    // The stream is `packed_bytes` of `bytes` from `offset` on; `unpacked_bytes` is what its header declares.
    PackedBundle(const base::Reader& bytes, std::uint64_t offset, std::uint64_t packed_bytes,
                 std::uint16_t method, std::uint64_t unpacked_bytes);
    PackedBundle(const PackedBundle&) = delete;
    PackedBundle& operator=(const PackedBundle&) = delete;
    ~PackedBundle() override;

    // A sentence where the method is none that this build can unpack; empty where it can.
    [[nodiscard]] std::string why_unreadable() const;

    // How much reading has cost, in bytes.
    [[nodiscard]] std::uint64_t unpacked_so_far() const;

    [[nodiscard]] std::uint64_t size() const override { return unpacked_bytes_; }
    // Error "gpu.malformed" where the stream is damaged, or shorter than that.
    [[nodiscard]] base::Status read_at(std::uint64_t offset, char* into, std::size_t length) const override;

  private:
    struct Stream;
    [[nodiscard]] base::Status unpack_more() const;

    const base::Reader& bytes_;
    std::uint64_t begin_;
    std::uint64_t packed_bytes_;
    std::uint16_t method_;
    std::uint64_t unpacked_bytes_;
    std::unique_ptr<Stream> stream_;  // null where the method cannot be read
};

}  // namespace wheelyard::inspect
