// `wheelyard-registry import`: other people's wheels into an index of the data folder at hand, by the rules
// of an upload.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "registry/commands.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct ImportArguments {
    std::filesystem::path config;
    std::string index;
    std::vector<std::string> wheels;  // WheelChoice in words
    std::string from;                 // empty: pip's index
    bool facts = false;
    bool json = false;
};

void add_import_command(CLI::App& app, ImportArguments& arguments);

// One after another; the pages show those that came when this returns, also where a later one failed.
[[nodiscard]] base::Status run_import(const ImportArguments& arguments, const OpenPublisher& open_publisher,
                                      const base::Clock& clock);

}  // namespace wheelyard::registry
