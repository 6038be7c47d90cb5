// `wheelyard-registry provenance INDEX FILENAME`: what made a wheel, as its uploader stated it.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

// `config` of a local data folder, or `url` and `token_file` of a remote registry.
struct ProvenanceArguments {
    std::string index;
    std::string filename;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    bool json = false;
};
void add_provenance_options(CLI::App& command, ProvenanceArguments& arguments);
// Prints the document. Errors: there is none; those of the configuration and the catalog, or of the remote registry.
[[nodiscard]] base::Status run_provenance(const ProvenanceArguments& arguments);

}  // namespace wheelyard::registry
