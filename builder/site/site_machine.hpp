// The part of site.toml that describes the machine: Pythons, modules, compilers, network, MPI, accelerators
// and node types.
#pragma once

#include "builder/site/site.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {

// Problems are added to the document of `root`.
void read_machine(io::TomlTable root, Site& site);

}  // namespace wheelyard::builder
