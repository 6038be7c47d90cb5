// [users] of site.toml: what the site's users get of its wheels. builder/user_files.hpp makes files of it.
#pragma once

#include "builder/site/site.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {

// After read_machine and the scheduler: it refers to accelerators, nodes and the launcher.
void read_users(io::TomlTable root, Site& site);

}  // namespace wheelyard::builder
