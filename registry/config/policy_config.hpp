// An index's policy in TOML: [index.policy] and [index.upstream.policy] of the configuration, or a separate
// file for `wheelyard-registry check --policy`.
//
//     preset = "linux"                              # the default; or "manylinux-strict", "mirror"
//     rpath_prefixes = ["/cvmfs/soft.example.org"]  # the site's module tree
//     gpu_architectures = ["sm_90"]                 # GPUs of the cluster
//     unpacked_gib = 64                             # maximum unpacked size of a wheel
//     unpacked_ratio = 100                          # maximum ratio of unpacked to packed size,
//     unpacked_ratio_from_mib = 64                  # for wheels that unpack to more than this
//     "elf.needed_unknown" = "reject"               # severity of any rule
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/inspect/verdict/policy.hpp"

namespace wheelyard::registry {

// Takes a preset's name, or the path of a file with the keys above at top level. Errors "config.*".
[[nodiscard]] base::Result<inspect::Policy> load_policy(const std::string& preset_or_file);

}  // namespace wheelyard::registry
