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

#include "lib/base/result.hpp"
#include "lib/inspect/elf/section_walk.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Error "gpu.malformed" if the walk cannot reach the end; `facts` keeps the names found so far.
[[nodiscard]] base::Status read_hip_bundles(SectionWalk walk, GpuFacts& facts);

}  // namespace wheelyard::inspect
