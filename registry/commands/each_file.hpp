// All published files, for commands that search them.
#pragma once

#include <functional>
#include <string>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Calls `use` for each file of the index, or of all where its name is empty, in the order of names; also for those that were
// fetched from its upstreams (their index is `main.pypi`), and for those in quarantine; its first error ends it. Error "index.unknown", and those of the catalog.
[[nodiscard]] base::Status for_each_file(const RegistryConfig& config, const std::string& index,
                                         const std::function<base::Status(const catalog::FileRow&)>& use);

}  // namespace wheelyard::registry
