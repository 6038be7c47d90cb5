// `wheelyard-registry explain INDEX PROJECT`: which index or upstream supplies a project, and why.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/remote_registry.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/explain.hpp"

namespace wheelyard::registry {
namespace {

// `config` of a local data folder, or `url` and `token_file` of a remote registry.
struct ExplainArguments {
    std::string index;
    std::string project;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    bool json = false;
};

base::Result<io::Json> explain_here(const ExplainArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    if (config.find_index(arguments.index) == nullptr)
        return base::fail("index.unknown", "There is no index with this name", arguments.index,
                          "configured: " + base::join(config.index_names(), ", "));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    PageStore pages(config.store / "upstream");
    return explain_project(config, *catalog, pages, arguments.index, arguments.project, clock.now(),
                           ExplainTo::administrators);
}

base::Result<io::Json> explain_there(const ExplainArguments& arguments) {
    WHEELYARD_ASSIGN(RemoteRegistry registry, RemoteRegistry::open(arguments.url, arguments.token_file));
    WHEELYARD_ASSIGN(const std::string body,
                     registry.get("/api/v1/indexes/" + base::encode_percent(arguments.index) + "/projects/" +
                                  base::encode_percent(arguments.project) + "/explain"));
    return io::parse_json(body);
}

void add_explain_options(CLI::App& command, ExplainArguments& arguments) {
    command.add_option("index", arguments.index, "The index that a client uses")->required();
    command.add_option("project", arguments.project, "The project")->required();
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
    add_target(command, arguments.config, arguments.url, arguments.token_file);
}

// Prints the answer. Errors: "index.unknown", those of the configuration and the catalog, or of the remote registry.
base::Status run_explain(const ExplainArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const io::Json document,
                     arguments.url.empty() ? explain_here(arguments, clock) : explain_there(arguments));
    if (arguments.json)
        std::printf("%s", document.render_pretty().c_str());
    else
        base::print_message(stdout, render_explanation(document));
    return {};
}

}  // namespace

std::vector<Command> explain_commands() {
    return {
        {"", "explain", "Explain which index or upstream supplies a project, and why",
         "main requests -c registry.toml", setup(add_explain_options, run_explain),
         "Asks no upstream: it shows what the server knows.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
