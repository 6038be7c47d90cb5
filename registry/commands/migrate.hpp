// `store migrate`: copies the blobs of a registry to another store, beside a running server.
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct MigrateArguments {
    std::filesystem::path config;
    std::filesystem::path to;  // a configuration whose [stores] names the other store
    bool json = false;
    bool quiet = false;
};

void add_migrate_options(CLI::App& command, MigrateArguments& arguments);
// Also fails if some blobs are missing or damaged, so that nobody switches to the other store then.
[[nodiscard]] base::Status run_migrate(const MigrateArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
