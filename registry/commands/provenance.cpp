// `wheelyard-registry provenance INDEX FILENAME`: what made a wheel, as its uploader stated it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

#include "lib/attest/wheel_statements.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wire/wheel_provenance.hpp"
#include "registry/api/provenance.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/commands/remote_registry.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

// `config` of a local data folder, or `url` and `token_file` of a remote registry.
struct ProvenanceArguments {
    std::string index;
    std::string filename;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
    bool json = false;
};

base::Result<std::string> read_here(const ProvenanceArguments& arguments) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(const auto row, find_file(*catalog, {arguments.index, arguments.filename}));
    return read_provenance(row, *blobs);
}

base::Result<std::string> read_there(const ProvenanceArguments& arguments) {
    WHEELYARD_ASSIGN(RemoteRegistry registry, RemoteRegistry::open(arguments.url, arguments.token_file));
    return registry.get("/api/v1/indexes/" + base::encode_percent(arguments.index) + "/files/" +
                        base::encode_percent(arguments.filename) + "/provenance");
}

// The text comes from the build: control characters are not printed.
void print(const char* name, const std::string& text) {
    if (!text.empty()) print_part(name, text, 12);
}

void print_all(const char* name, const wire::NamedTexts& texts) {
    for (const auto& [key, text] : texts)
        print(name, key + ": " + text);
}

void print_provenance(const wire::WheelProvenance& provenance) {
    print("wheel", provenance.wheel.filename);
    print("sha256", provenance.wheel.sha256);
    print("site", provenance.site);
    print("program", provenance.program);
    print("attempt", provenance.attempt + " (number " + std::to_string(provenance.number) + ")");
    print("began", base::render_rfc3339(provenance.began));
    print("source", provenance.source.origin);
    print("", provenance.source.sha256);
    print("recipe", provenance.recipe);
    print("", provenance.recipe_sha256);
    print("script", provenance.build.script_sha256);
    print("node type", provenance.node_type);
    if (provenance.governed) print("governor", wire::describe(*provenance.governed));
    print("system", provenance.build.system);
    print("modules", base::join(provenance.build.modules, " "));
    print_all("tool", provenance.build.tools);
    print_all("variable", provenance.build.environment);
    print_all("requirement", provenance.build.requirements);
    print("log", provenance.log);
    if (provenance.is_cut) print("cut", "lists were left out: the document would be too large");
}

void add_provenance_options(CLI::App& command, ProvenanceArguments& arguments) {
    command.add_option("index", arguments.index, "The index")->required();
    command.add_option("filename", arguments.filename, "The file's name, as on the project's page")
        ->required();
    command.add_flag("--json", arguments.json, "The document as it is stored");
    add_target(command, arguments.config, arguments.url, arguments.token_file);
}

// Prints the document. Errors: there is none; those of the configuration and the catalog, or of the remote registry.
base::Status run_provenance(const ProvenanceArguments& arguments) {
    WHEELYARD_ASSIGN(const std::string text,
                     arguments.url.empty() ? read_here(arguments) : read_there(arguments));
    if (arguments.json) {
        std::printf("%s", text.c_str());
        return {};
    }
    WHEELYARD_ASSIGN(const auto parts, attest::split_statements(text));
    WHEELYARD_ASSIGN(const auto provenance, wire::parse_wheel_provenance(parts.document));
    print_provenance(provenance);
    if (!parts.statements.empty())
        print("signed", std::to_string(parts.statements.size()) +
                            " statements; `wheelyard-registry attest verify` verifies them");
    return {};
}

}  // namespace

std::vector<Command> provenance_commands() {
    return {
        {"", "provenance", "What made a wheel: source, script, tools, site and attempt",
         "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml",
         setup(add_provenance_options, run_provenance),
         "It is the statement of the agent that uploaded the wheel; the registry has not verified it, but "
         "signs\n"
         "which token said it (`attest verify`).\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
    };
}

}  // namespace wheelyard::registry
