// Device code in files of its own that are no ELF files (those: device_object.hpp). By their first bytes: fatbins, clang's
// offload bundles, compressed or not, as rocBLAS and hipBLASLt ship them in `.co`. By their names: PTX, and what is named as
// device code but is in no known form, so that its GPUs are unknown: encrypted or compressed files, pointers of Git LFS,
// MIOpen's and AOTriton's collections of kernels (`.kdb`, `.aks2`). Archives are not opened, and SPIR-V names no GPU.
#pragma once

#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Whether read_loose_code() has something to say about a file of this name that begins with `begin`, at least 32 bytes
// or all of it.
[[nodiscard]] bool is_loose_code(std::string_view name, std::string_view begin);

// Adds the GPUs to `facts`, or why they are unknown. Errors as read_gpu_code().
[[nodiscard]] base::Status read_loose_code(const base::Reader& bytes, std::string_view name, GpuFacts& facts);

}  // namespace wheelyard::inspect
