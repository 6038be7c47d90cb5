// Which GPU runs which device code, and which driver supports which CUDA: pure functions over tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"

namespace wheelyard::avail_wheels {

// CUDA C++ Programming Guide, "Compute capabilities" and "Application compatibility": a cubin for sm_XY runs
// on X.Z with Z ≥ Y; sm_90a only on 9.0; sm_100f only on its family (10.Z, Z ≥ 0).
[[nodiscard]] bool cubin_runs(std::string_view cubin, std::string_view device);
// The driver compiles PTX for compute_XY for any GPU of X.Y or newer; compute_90a only for 9.0, compute_100f
// only for its family.
[[nodiscard]] bool ptx_runs(std::string_view ptx, std::string_view device);
// A code object for gfx90a runs on gfx90a with any xnack and sramecc setting; one for gfx90a:xnack- requires
// that setting if the device's is known. gfx9-4-generic and similar run on their family (LLVM's AMDGPU
// usage), amdgcnspirv on every GPU.
[[nodiscard]] bool gfx_runs(std::string_view target, std::string_view device);

// 9.0 → "sm_90", 12.1 → "sm_121"; empty: not a compute capability.
[[nodiscard]] std::string sm_of_capability(std::string_view capability);
// From a model name, for when the capability is not reported: "NVIDIA A100-SXM4-40GB" → "sm_80".
[[nodiscard]] std::string sm_of_model(std::string_view model);
// gfx_target_version of the kernel's topology: 90010 → "gfx90a"; 0 (a CPU) → empty.
[[nodiscard]] std::string gfx_of_target_version(std::uint64_t version);

// The newest CUDA that this driver supports (CUDA's release notes, table 3); nullopt: older than the table.
[[nodiscard]] std::optional<Dotted> cuda_of_driver(const Dotted& driver);
// Whether the driver's branch is newer than the table: it may support a newer CUDA than cuda_of_driver() says.
[[nodiscard]] bool is_newer_than_known(const Dotted& driver);
// The oldest driver that runs programs of this CUDA's major version at all ("minor version compatibility");
// nullopt: not in the table.
[[nodiscard]] std::optional<Dotted> min_driver(const Dotted& cuda);

}  // namespace wheelyard::avail_wheels
