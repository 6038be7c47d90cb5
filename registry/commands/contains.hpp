// `wheelyard-registry contains NAME [VERSION]`: which published wheels contain a component, as their SBOMs state.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

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

// Whether a component's version is `wanted`, without the epoch and the revision of a distribution: "1:1.2.11.dfsg-2" and
// "1.2.11-25.el8" are 1.2.11, "1.2.110" and "1.2.11.1" are not.
[[nodiscard]] bool is_component_version(std::string_view version, std::string_view wanted);

}  // namespace wheelyard::registry
