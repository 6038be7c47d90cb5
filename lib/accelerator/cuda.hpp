// CUDA, on NVIDIA's GPUs: its row of the table, and its rules as pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::accelerator::cuda {

extern const AcceleratorKind kind;

// CUDA C++ Programming Guide, "Compute capabilities" and "Application compatibility": a cubin for sm_XY runs
// on X.Z with Z ≥ Y; sm_90a only on 9.0; sm_100f only on its family (10.Z, Z ≥ 0).
[[nodiscard]] bool cubin_runs(std::string_view cubin, std::string_view device);
// The driver compiles PTX for compute_XY for any GPU of X.Y or newer; compute_90a only for 9.0, compute_100f
// only for its family.
[[nodiscard]] bool ptx_runs(std::string_view ptx, std::string_view device);

// 9.0 → "sm_90", 12.1 → "sm_121"; empty: not a compute capability.
[[nodiscard]] std::string sm_of_capability(std::string_view capability);
// From a model name, for when the capability is not reported: "NVIDIA A100-SXM4-40GB" → "sm_80".
[[nodiscard]] std::string sm_of_model(std::string_view model);

// Parses `nvidia-smi --query-gpu=name,compute_cap,driver_version --format=csv,noheader`: one line per GPU.
// Ignores other lines.
void read_nvidia_smi(std::string_view text, FoundGpus& found);
// /proc/driver/nvidia/version: "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar …".
[[nodiscard]] std::optional<base::Dotted> driver_of_proc(std::string_view text);

}  // namespace wheelyard::accelerator::cuda
