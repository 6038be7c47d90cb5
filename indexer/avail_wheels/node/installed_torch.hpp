// The torch that the user's Python would import, by its files: `--why` judges extensions by it. Nothing is started, and of its
// libraries only libc10.so (1 MB) is read.
//
//     site-packages/torch/version.py     __version__ = '2.6.0+cu124', cuda: Optional[str] = '12.4'
//     site-packages/torch/lib/           libc10.so, libtorch_cuda.so, …
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/node/node_probe.hpp"

namespace wheelyard::avail_wheels {

// In the folders of PYTHONPATH, then in node.module_folders. nullopt: there is none, or it cannot be read.
[[nodiscard]] std::optional<InstalledTorch> find_installed_torch(const HostProbe& probe, const Node& node);
// "true" or "false", as `torch_cxx11_abi` of the facts: by the constructor of c10::Error in the library's bytes. Empty: unknown.
[[nodiscard]] std::string strings_of_c10(std::string_view bytes);

}  // namespace wheelyard::avail_wheels
