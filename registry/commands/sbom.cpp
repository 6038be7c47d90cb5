#include "registry/commands/sbom.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "lib/wire/problem.hpp"
#include "registry/api/derived_sbom.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {

void add_sbom_options(CLI::App& command, SbomArguments& arguments) {
    command.add_option("index", arguments.index, "The index")->required();
    command.add_option("filename", arguments.filename, "The file's name, as on the project's page")
        ->required();
    command.add_option("-c,--config", arguments.config, "Path of registry.toml")->required();
}

base::Status run_sbom(const SbomArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    WHEELYARD_ASSIGN(const auto row, catalog->file(arguments.index, arguments.filename));
    if (!row)
        return wire::fail("file.unknown", "The index has no such file",
                          arguments.index + "/" + arguments.filename,
                          "wheelyard-registry files " + arguments.index + " lists its files");
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(const std::string document, render_sbom(*row, *blobs));
    std::printf("%s\n", document.c_str());
    return {};
}

}  // namespace wheelyard::registry
