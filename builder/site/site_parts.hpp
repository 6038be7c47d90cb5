// The parts of site.toml with sources of their own. Problems are added to the document of `root`.
#pragma once

#include <string>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {

// `options`: directive lines of a batch system.
[[nodiscard]] std::vector<std::string> read_options(io::TomlTable& table);

// What describes the machine: Pythons, modules, compilers, network, MPI, accelerators and node types.
void read_machine(io::TomlTable root, Site& site);

// [users]; builder/users/user_files.hpp renders the files for users from it. Call after read_machine and after reading
// the scheduler: the table refers to accelerators, nodes and the launcher.
void read_users(io::TomlTable root, Site& site);

}  // namespace wheelyard::builder
