// `wheelyard-registry apply`: shows what the file changes in the indexes that are in force, and makes it decide them.
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
    bool json = false;
};
void add_apply_options(CLI::App& command, ApplyArguments& arguments);
[[nodiscard]] base::Status run_apply(const ApplyArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
