// Finds the GPUs that the device code in an ELF file was compiled for. CUDA uses the sections `.nv_fatbin`
// and `__nv_relfatbin` (layout: gpu_code.hpp), HIP `.hip_fatbin` (gpu_code.hpp). The row of an accelerator
// whose code is not read names its sections. A file for a GPU is read as device_object.cpp says; files that
// are no ELF files: loose_code.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/elf/section_walk.hpp"

namespace wheelyard::inspect {

struct GpuFacts {
    // The names of each list of device code (lib/accelerator): cuda_sm: "sm_90", "sm_90a", "sm_103f";
    // cuda_ptx: "compute_90"; hip_gfx: "gfx90a:xnack-", "gfx9-4-generic", "amdgcnspirv".
    std::map<std::string, std::set<std::string>, std::less<>> code = {};
    std::set<std::string> not_read =
        {};                       // the kinds of accelerators whose device code is there and is not read
    std::string hip_unread = {};  // why the GPUs of a compressed bundle are unknown; usually empty
    std::string unread = {};      // the same of code in an unknown form

    [[nodiscard]] const std::set<std::string>& names(std::string_view fact) const;  // empty: there are none
    // Notes that code of this kind of accelerator is there whose GPUs are unknown.
    void add_unread(std::string_view kind, std::string why);
};

// Adds the contents of the sections of `elf` to `facts`, or its own GPU if it is device code. Error
// "gpu.malformed" if a section cannot be walked to its end (names found so far are kept); any other error is
// an I/O error.
[[nodiscard]] base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts);

// Adds the GPU to `facts`, or why it is unknown; nothing if `elf` is no device code. An Error is an I/O
// error.
[[nodiscard]] base::Status read_device_object(const base::Reader& bytes, const ElfFacts& elf,
                                              GpuFacts& facts);

// Says whether read_loose_code() has something to say about a file of this name that begins with `begin`, at
// least 32 bytes or all of it.
[[nodiscard]] bool is_loose_code(std::string_view name, std::string_view begin);

// Adds the GPUs to `facts`, or why they are unknown. Errors as read_gpu_code().
[[nodiscard]] base::Status read_loose_code(const base::Reader& bytes, std::string_view name, GpuFacts& facts);

// CUDA device code: consecutive fatbins with zeros between them. All integers are little-endian:
//
//     fatbin  u32 0xBA55ED50, u16 version, u16 header size, u64 body size; then the body: entries
//     entry   @0   u16 kind: 1 PTX, 2 machine code, 8 IR for link-time optimisation
//             @4   u32 header size (64 to 120)
//             @8   u64 payload size
//             @28  u32 arch (70, 90, 100)
//             @40  u64 flags: bit 13 LZ4, 15 zstd, 20 this arch only (`a`), 21 its family (`f`)
//
// The arch is never compressed, so nothing needs to be unpacked. Bits 20 and 21 were determined by compiling
// for sm_90a, sm_103a and sm_100f (nvcc 13.5) and from the command lines in torch 2.15's cubins. `cuobjdump`
// prints the same names as `arch =`; its file names omit the `f` of machine code. IR for link-time
// optimisation is not executable and is not listed.

// Error "gpu.malformed" if the walk cannot reach the end; `facts` keeps the names found so far.
[[nodiscard]] base::Status read_fatbins(SectionWalk walk, GpuFacts& facts);

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
