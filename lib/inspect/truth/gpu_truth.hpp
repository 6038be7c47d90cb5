// What the file name and the index's policy promise about GPUs against the device code inside.
//
// A local version promises: `+cu126`, `+cuda12.cudnn89`, `+pt24cu121`, `+rocm6.2`. It is kept by device code
// of that maker, by a needed library of it (a wheel may only call cuBLAS), or by a bare device object. A
// wheel without any ELF file is not asked: pure companions carry the local version of what they belong to.
//
// A policy's gpu_architectures name what the index's machines have. A wheel with device code must run on each
// of those whose maker it has code for, and on one at least; a wheel without any runs everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// Judges facts.cuda_sm, cuda_ptx and hip_gfx; where device code could not be read ("gpu.compressed",
// "gpu.malformed" among the findings) what is not in them is "gpu.unproven": a person decides.
void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings);

// "sm_90", "gfx90a", "gfx90a:sramecc+:xnack-": what a machine has, as a policy names it.
[[nodiscard]] bool is_gpu_architecture(std::string_view text);

// Whether any of the code in `facts` runs on the machine's GPU. CUDA: NVIDIA's compatibility of cubins (same
// major, same or later minor; `a` on that arch alone; `f` as its family) and of PTX (any later). HIP: LLVM's
// AMDGPU target ids and generic processors.
[[nodiscard]] bool runs_on(const Facts& facts, std::string_view architecture);

}  // namespace wheelyard::inspect
