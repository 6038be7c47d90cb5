// `wheelyard-registry sbom INDEX FILE`: a software bill of materials of a stored wheel.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "registry/api/derived_sbom.hpp"
#include "registry/api/provenance.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

struct SbomArguments {
    std::string index;
    std::string filename;
    std::filesystem::path config;
};

void add_sbom_options(CLI::App& command, SbomArguments& arguments) {
    command.add_option("index", arguments.index, "The index")->required();
    command.add_option("filename", arguments.filename, "The file's name, as on the project's page")
        ->required();
    add_config_option(command, arguments.config);
}

// Prints the document (derived_sbom.hpp). Errors: "file.unknown", and those of configuration, catalog and blobs.
base::Status run_sbom(const SbomArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    WHEELYARD_ASSIGN(const auto row, find_file(*catalog, {arguments.index, arguments.filename}));
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(const std::string document, render_sbom(row, *blobs));
    std::printf("%s\n", document.c_str());
    return {};
}

}  // namespace

std::vector<Command> sbom_commands() {
    return {
        {"", "sbom", "Print a software bill of materials of a stored wheel (CycloneDX 1.6)",
         "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml", setup(add_sbom_options, run_sbom),
         "It has what the wheel's own SBOMs state, the libraries inside that its bytes prove, and, of a "
         "wheel of an\n"
         "agent, the source and the wheels that it was built with. Static libraries are only in what an SBOM "
         "states.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
