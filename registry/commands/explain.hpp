// `wheelyard-registry explain INDEX PROJECT`: which index or upstream supplies a project, and why.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

// `config` of a local data folder, or `url` and `token_file` of a remote registry.
struct ExplainArguments {
    std::string index;
    std::string project;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    bool json = false;
};
void add_explain_options(CLI::App& command, ExplainArguments& arguments);
// Prints the answer. Errors: "index.unknown", those of the configuration and the catalog, or of the remote registry.
[[nodiscard]] base::Status run_explain(const ExplainArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
