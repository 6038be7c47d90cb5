// HIP's device code: clang offload bundles, each at the next page of its section. All integers little-endian:
//
//     bundle      `__CLANG_OFFLOAD_BUNDLE__`, u64 count; entries: u64 offset, u64 size, u64 id length, id
//                 ("host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-"), offsets from the
//                 bundle's begin
//     compressed  `CCOB`, u16 version, u16 method (0 zlib, 1 zstd), then by version
//                 1  u32 unpacked size                        (clang 18)
//                 2  u32 whole size, u32 unpacked size        (clang 19 to 21)
//                 3  u64 whole size, u64 unpacked size        (clang 22)
//                 then 8 bytes of hash, then a bundle packed as one stream
//
// A compressed bundle is unpacked only as far as its table of entries goes, so its declared sizes, however
// large, cost nothing. Version 1 does not say where it ends: the next bundle is looked for page by page.
// Source: clang's documentation of the offload bundler, and objects of clang 17 to 22
// (tests/support/gpu_objects).
#pragma once

#include "lib/base/result.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Error "gpu.malformed" when the walk cannot reach the end; what was found before is kept.
[[nodiscard]] base::Status read_hip_bundles(SectionWalk walk, GpuFacts& facts);

}  // namespace wheelyard::inspect
