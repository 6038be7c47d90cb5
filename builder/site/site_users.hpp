// [users] of site.toml; builder/users/user_files.hpp renders the files for users from it.
#pragma once

#include "builder/site/site.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {

// Call after read_machine and after reading the scheduler: the table refers to accelerators, nodes and the
// launcher.
void read_users(io::TomlTable root, Site& site);

}  // namespace wheelyard::builder
