// `wheelyard-registry provenance INDEX FILENAME`: what made a wheel, as its uploader stated it.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct ProvenanceArguments {
    std::string index;
    std::string filename;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    bool json = false;
};
void add_provenance_command(CLI::App& app, ProvenanceArguments& arguments);
[[nodiscard]] base::Status run_provenance(const ProvenanceArguments& arguments);

}  // namespace wheelyard::registry
