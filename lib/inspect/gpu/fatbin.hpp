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
#pragma once

#include "lib/base/result.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Error "gpu.malformed" if the walk cannot reach the end; `facts` keeps the names found so far.
[[nodiscard]] base::Status read_fatbins(SectionWalk walk, GpuFacts& facts);

}  // namespace wheelyard::inspect
