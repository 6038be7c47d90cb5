// `wheelyard-registry prefetch`: fetches what requirements need for other kinds of nodes, so that these can install it
// without internet access.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct PrefetchArguments {
    std::filesystem::path config;
    std::string index;
    std::vector<std::filesystem::path> requirements;
    std::vector<std::string> pythons;
    std::vector<std::string> platforms;
    bool wants = false;  // what the sites of the index want, as they report it
    std::string name = "default";
    std::string url;  // of the running server; empty: the first address of the configuration
    bool forget = false;
    bool json = false;
};

void add_prefetch_options(CLI::App& command, PrefetchArguments& arguments);

[[nodiscard]] base::Status run_prefetch(const PrefetchArguments& arguments, base::Clock& clock);

}  // namespace wheelyard::registry
