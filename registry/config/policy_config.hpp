// An index's policy as TOML says it: [index.policy] of the configuration, or a file of its own for
// `wheelyard-registry check --policy`.
//
//     preset = "linux"                              # the default; or "manylinux-strict", "mirror"
//     rpath_prefixes = ["/cvmfs/soft.example.org"]  # the site's module tree
//     gpu_architectures = ["sm_90"]                 # what its machines have
//     unpacked_gib = 64                             # what all members together may unpack to
//     unpacked_ratio = 100                          # and how many times the packed size
//     unpacked_ratio_from_mib = 64                  # of what is larger than this
//     "elf.needed_unknown" = "reject"               # and any rule's severity
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::registry {

// Problems are noted in the table's document.
[[nodiscard]] inspect::Policy read_policy(io::TomlTable table);

// A preset's name, or the path of a file with the keys above at its top. Errors "config.*".
[[nodiscard]] base::Result<inspect::Policy> load_policy(const std::string& preset_or_file);

}  // namespace wheelyard::registry
