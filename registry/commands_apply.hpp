// `wheelyard-registry apply`: shows what the file changes in the indexes of the running server, and has the server apply it.
#pragma once

#include <filesystem>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct ApplyArguments {
    std::filesystem::path config;
    bool check = false;  // only show
};
void add_apply_command(CLI::App& app, ApplyArguments& arguments);
// Signals the server of this machine that has the store's lock, and waits for its result.
[[nodiscard]] base::Status run_apply(const ApplyArguments& arguments);

}  // namespace wheelyard::registry
