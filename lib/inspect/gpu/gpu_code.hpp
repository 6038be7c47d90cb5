// Device code inside of ELF files: for which GPUs a library was really compiled. CUDA's stands in sections
// `.nv_fatbin` and `__nv_relfatbin` (fatbin.hpp has the layout), HIP's in `.hip_fatbin` (hip_bundle.hpp).
#pragma once

#include <set>
#include <string>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf.hpp"

namespace wheelyard::inspect {

struct GpuFacts {
    std::set<std::string> cuda_sm;   // "sm_90", "sm_90a", "sm_103f"
    std::set<std::string> cuda_ptx;  // "compute_90"
    std::set<std::string> hip_gfx;   // "gfx90a:xnack-", "gfx9-4-generic", "amdgcnspirv"
    std::string hip_unread = {};     // why the GPUs of a compressed bundle are not listed; mostly empty
};

// Adds what the sections of `elf` hold to `facts`. Error "gpu.malformed" when a section cannot be walked to
// its end (what was found up to there is kept); any other code means that it could not be read.
[[nodiscard]] base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts);

}  // namespace wheelyard::inspect
