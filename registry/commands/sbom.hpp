// `wheelyard-registry sbom INDEX FILE`: a software bill of materials of a stored wheel.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct SbomArguments {
    std::string index;
    std::string filename;
    std::filesystem::path config;
};
void add_sbom_options(CLI::App& command, SbomArguments& arguments);
// Prints the document (derived_sbom.hpp). Errors: "file.unknown", and those of configuration, catalog and blobs.
[[nodiscard]] base::Status run_sbom(const SbomArguments& arguments);

}  // namespace wheelyard::registry
