// ROCm, on AMD's GPUs: its row of the table, and its rules as pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::accelerator::rocm {

extern const AcceleratorKind kind;

// A code object for gfx90a runs on gfx90a with any xnack and sramecc setting; one for gfx90a:xnack- requires
// that setting if the device's is known. gfx9-4-generic and similar run on their family (LLVM's AMDGPU
// usage), amdgcnspirv on every GPU.
[[nodiscard]] bool gfx_runs(std::string_view target, std::string_view device);
// gfx_target_version of the kernel's topology: 90010 → "gfx90a"; 0 (a CPU) → empty.
[[nodiscard]] std::string gfx_of_target_version(std::uint64_t version);

// rocminfo: "  Name:                    gfx90a" and the ISA "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" of
// agents.
void read_rocminfo(std::string_view text, FoundGpus& found);
// `amd-smi static --asic --json`: {"gpu_data": [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI210",
// "target_graphics_version": "gfx90a", …}}, …]}; up to ROCm 6.3 only the array, and "gfx9008" for gfx908
// (changelog of https://rocm.docs.amd.com/projects/amdsmi). A site's tools may print warnings before it.
void read_amd_smi(std::string_view text, FoundGpus& found);

}  // namespace wheelyard::accelerator::rocm
