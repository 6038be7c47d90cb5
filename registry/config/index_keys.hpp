// The keys of [[index]] that have one value: how each is read, how it is shown where it changes, and its line in the file that
// `init` writes. The default of a key is the value of a new IndexConfig.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/io/toml.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

struct IndexKey {
    std::string_view name;
    std::string_view meaning;  // in the template; empty: it has a line there
    std::function<void(io::TomlTable&, IndexConfig&)> read;
    std::function<std::string(const IndexConfig&)> show;  // as TOML has it
};

// All but `name`, and `policy`, `build`, `attested_by` and `upstream`, which are tables.
[[nodiscard]] const std::vector<IndexKey>& index_keys();

}  // namespace wheelyard::registry
