// Device code inside of ELF files: for which GPUs a library was really compiled.
//
// CUDA, sections `.nv_fatbin` and `__nv_relfatbin`: fatbins one after the other, zeros between them. All
// little-endian:
//
//     fatbin  u32 0xBA55ED50, u16 version, u16 header size, u64 body size; then the body: entries
//     entry   @0 u16 kind (1 PTX, 2 machine code)   @4 u32 header size   @8 u64 payload size
//             @28 u32 arch (70, 90, 100)   @40 u64 flags: bit 20 this arch (`a`), 21 its family (`f`)
//
// The arch stands in the clear though the payload may be compressed. The two flag bits were found by
// comparing them with the `-arch sm_90a`, `sm_103f` … that machine code notes of its own command line (torch
// 2.15, libtorch_cuda.so).
//
// HIP, section `.hip_fatbin`: clang offload bundles: `__CLANG_OFFLOAD_BUNDLE__`, u64 count, entries of u64
// offset, u64 size, u64 id length, id ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"). A bundle that begins with
// `CCOB` is compressed as a whole.
#pragma once

#include <set>
#include <string>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf.hpp"

namespace wheelyard::inspect {

struct GpuFacts {
    std::set<std::string> cuda_sm;   // "sm_90", "sm_90a", "sm_103f"
    std::set<std::string> cuda_ptx;  // "compute_90"
    std::set<std::string> hip_gfx;   // "gfx90a:xnack-"
    bool hip_compressed = false;     // a compressed bundle: its GPUs are not read
};

// Adds what the sections of `elf` hold to `facts`. Error "gpu.malformed" when a section cannot be walked to
// its end (what was found up to there is kept); any other code means that it could not be read.
[[nodiscard]] base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts);

}  // namespace wheelyard::inspect
