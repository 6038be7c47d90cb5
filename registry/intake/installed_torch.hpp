// What an installed torch defines: the folder `torch` of an environment or of a module, instead of a wheel. Its libraries are read
// as files; nothing is loaded.
//
//     site-packages/torch/version.py                                     __version__ = '2.6.0+cu124'
//     site-packages/torch/_C.cpython-311-x86_64-linux-gnu.so             which Python
//     site-packages/torch/lib/libtorch_cpu.so, libc10.so, …
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"
#include "lib/inspect/abi/torch_fit.hpp"

namespace wheelyard::registry {

// Errors: "torch.not_installed": it is no such folder; "torch.no_libraries"; those of reading the files.
[[nodiscard]] base::Result<inspect::TorchExports> read_installed_torch(const std::filesystem::path& folder);

}  // namespace wheelyard::registry
