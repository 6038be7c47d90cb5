// `wheelyard-registry contains NAME [VERSION]`: which published wheels contain a component, as their SBOMs state.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct ContainsArguments {
    std::string name;     // may have * and ?
    std::string version;  // empty: every one
    std::string license = "*";
    std::string index;  // empty: all
    std::filesystem::path config;
    bool json = false;
};
void add_contains_options(CLI::App& command, ContainsArguments& arguments);
// Prints the wheels, also those in quarantine. Error "index.unknown", and those of configuration and catalog.
[[nodiscard]] base::Status run_contains(const ContainsArguments& arguments);

}  // namespace wheelyard::registry
