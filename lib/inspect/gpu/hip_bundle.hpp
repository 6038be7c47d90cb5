// HIP device code: clang offload bundles, each at a page boundary of its section. All integers are
// little-endian:
//
//     bundle      `__CLANG_OFFLOAD_BUNDLE__`, u64 count; entries: u64 offset, u64 size, u64 id length, id
//                 ("host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
//                 offsets are relative to the start of the bundle
//     compressed  `CCOB`, u16 version, u16 method (0 zlib, 1 zstd), then by version
//                   1  u32 unpacked size                        (clang 18)
//                   2  u32 total size, u32 unpacked size        (clang 19 to 21)
//                   3  u64 total size, u64 unpacked size        (clang 22)
//                 then an 8-byte hash, then one compressed stream with a bundle
//
// A compressed bundle is unpacked only up to the end of its table of entries, so large declared sizes cost
// nothing. Version 1 does not store its end: the next bundle is searched page by page. Sources: clang's
// documentation of the offload bundler, and objects of clang 17 to 22 (tests/support/gpu_objects).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Error "gpu.malformed" if the walk cannot reach the end; `facts` keeps the names found so far.
[[nodiscard]] base::Status read_hip_bundles(SectionWalk walk, GpuFacts& facts);

// Unpacks a compressed offload bundle lazily, up to the highest offset that is read.
//
// Bounded for any stream: unpacks and holds at most max_bundle_table_bytes; zstd's window takes at most
// max_zstd_window, of which only the used part becomes resident.
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
