// `wheelyard-registry import`: imports wheels into an index of the local data folder, with the rules of
// an upload.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "registry/store/opened_store.hpp"

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
    bool quiet = false;
    bool json = false;
};

void add_import_options(CLI::App& command, ImportArguments& arguments);

// Imports one after another. On return the pages show the imported wheels, even if a later one failed.
[[nodiscard]] base::Status run_import(const ImportArguments& arguments, const OpenPublisher& open_publisher,
                                      const base::Clock& clock);

}  // namespace wheelyard::registry
