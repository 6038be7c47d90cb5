// Finds the GPUs that a library's device code was compiled for. CUDA uses the sections `.nv_fatbin` and
// `__nv_relfatbin` (layout: fatbin.hpp), HIP `.hip_fatbin` (hip_bundle.hpp).
#pragma once

#include <set>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf.hpp"

namespace wheelyard::inspect {

struct GpuFacts {
    std::set<std::string> cuda_sm;   // "sm_90", "sm_90a", "sm_103f"
    std::set<std::string> cuda_ptx;  // "compute_90"
    std::set<std::string> hip_gfx;   // "gfx90a:xnack-", "gfx9-4-generic", "amdgcnspirv"
    std::string hip_unread = {};     // why the GPUs of a compressed bundle are unknown; usually empty
};

// Adds the contents of the sections of `elf` to `facts`. Error "gpu.malformed" if a section cannot be walked
// to its end (names found so far are kept); any other error is an I/O error.
[[nodiscard]] base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts);

}  // namespace wheelyard::inspect
