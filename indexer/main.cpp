// wheelyard-indexer: parses the command line and calls a command.
#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "indexer/commands.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"

namespace {

using namespace wheelyard;

using Run = std::function<int(std::ostream& out, std::ostream& err)>;  // gives the exit status

struct CommandRow {
    const char* name;
    const char* summary;
    Run (*add)(CLI::App& command);   // its options, which the Run reads
    const char* help_end = nullptr;  // nullptr: that of the program
};

CLI::Option* add_store(CLI::App& command, wheelyard::database::Place& store, const char* description) {
    CLI::Option* folder =
        command.add_option("--store", store.folder, description)->check(base::fault_of_folder, "DIR");
    CLI::Option* url =
        command
            .add_option("--database", store.url,
                        "[stores] database of its configuration, if the catalog is not in the folder")
            ->check(CLI::Validator([](std::string& text) { return database::fault_of_url(text); }, ""))
            ->needs(folder);
    command
        .add_option("--database-password-file", store.password_file,
                    "A file whose first line is the database's password")
        ->needs(url);
    return folder;
}

// The keys of [stores] in the registry's configuration.
void add_bucket(CLI::App& command, blobs::Place& bucket, CLI::Option* store) {
    CLI::Option* url = command
                           .add_option("--blobs", bucket.url,
                                       "[stores] blobs of its configuration, if the wheels are in a bucket; "
                                       "only the registry can serve the tree then")
                           ->type_name("URL")
                           ->needs(store);
    command.add_option("--blobs-endpoint", bucket.endpoint, "[stores] blobs_endpoint")->needs(url);
    command.add_option("--blobs-region", bucket.region, "[stores] blobs_region")->needs(url);
    command.add_flag("--blobs-path-style", bucket.path_style, "[stores] blobs_path_style")->needs(url);
    command
        .add_option("--blobs-credentials-file", bucket.credentials_file, "[stores] blobs_credentials_file")
        ->needs(url);
}

Run add_publish(CLI::App& command) {
    const auto options = std::make_shared<indexer::PublishOptions>();
    CLI::Option* store =
        add_store(command, options->store, "The registry's data folder (catalog, blobs/)")->required();
    add_bucket(command, options->blobs, store);
    command.add_option("--to", options->tree, "The folder to publish into")->required();
    command.add_option("--index", options->indexes, "Create a root page for this index even if it is empty");
    command.add_flag(
        "!--no-find-links", options->find_links,
        "Do not create INDEX/find-links/, a folder with every wheel (an existing one is kept up to date)");
    command.add_flag(
        "!--no-precompressed", options->precompressed,
        "Do not create index.html.gz and .zst next to index.html (existing ones are kept up to date)");
    command.add_flag(
        "!--no-pages", options->pages,
        "Do not create the web UI: INDEX/project/, INDEX/builds/, index.html (existing ones are kept "
        "up to date)");
    command.add_flag(
        "--all", options->all,
        "Rewrite every page, even unchanged ones; files in place are trusted (`check` verifies them)");
    command.add_flag(
        "--private", options->is_private,
        "Publish the indexes with read = \"token\" instead of the public ones; the folder gets mode 0700");
    command.add_flag("-q,--quiet", options->quiet, "No progress on standard error");
    command.add_flag("--json", options->json, "Print JSON");
    return [options](std::ostream& out, std::ostream& err) {
        base::SystemClock clock;
        return indexer::run_publish(*options, clock, out, err);
    };
}

Run add_check(CLI::App& command) {
    const auto options = std::make_shared<indexer::CheckOptions>();
    command.add_option("--to", options->tree, "The published folder")
        ->required()
        ->check(base::fault_of_folder, "DIR");
    CLI::Option* check_store =
        add_store(command, options->store, "Also compare with this registry's data folder");
    add_bucket(command, options->blobs, check_store);
    command.add_flag("--repair", options->repair, "Repair the tree from the store and check again")
        ->needs(check_store);
    command.add_flag("--json", options->json, "Print JSON");
    return [options](std::ostream& out, std::ostream& err) {
        base::SystemClock clock;
        return indexer::run_check(*options, clock, out, err);
    };
}

Run add_client_config(CLI::App& command) {
    const auto options = std::make_shared<indexer::ClientOptions>();
    command
        .add_option("--node", options->nodes,
                    "NAME=URL of an index's simple/ (https:, or file: without a server), or "
                    "NAME=/absolute/folder of such an index or of wheels; repeat it for "
                    "several node types")
        ->required();
    command.add_option("--machine", options->machines, "NAME=MACHINE: select this node type by `uname -m`");
    command.add_option("--host", options->hosts, "NAME=GLOB: select this node type by host name");
    command.add_option("--token", options->with_token,
                       "NAME: only tokens may read its index; the configuration says where the token goes");
    command.add_option("--fallback", options->fallback,
                       "URL of the Simple index that has all the rest: uv asks it only for projects that the "
                       "node's index lacks, and a constraints file holds pip to the versions in that index");
    command.add_option("--site", options->site, "The modulefile's name")->capture_default_str();
    command.add_option("--kind", options->kind, "Print only this one")
        ->check(CLI::IsMember({"pip", "uv", "poetry", "pdm", "lmod", "tcl"}));
    command.add_option("--to", options->to, "Write files and modulefiles into this folder");
    command.add_flag("--json", options->json, "Print JSON");
    return [options](std::ostream& out, std::ostream& err) {
        return indexer::run_client_config(*options, out, err);
    };
}

// In the order of --help.
constexpr CommandRow commands[] = {
    {"publish", "Bring a tree up to date with the registry's catalog", add_publish},
    {"check", "Follow every link of a tree and verify its target", add_check,
     "Examples:\n"
     "    wheelyard-indexer check --to /srv/www/wheels\n"
     "    wheelyard-indexer check --to /srv/www/wheels --store /srv/wheelyard --repair\n\n"
     "Exit status: 0 the tree is complete, 1 it is not, 2 wrong usage."},
    {"client-config", "Print configuration for pip, uv, poetry, pdm and environment modules",
     add_client_config,
     "Examples:\n"
     "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/ --kind pip\n"
     "    wheelyard-indexer client-config --to /shared/wheels/client --site bede \\\n"
     "        --node gh200=https://wheels.example.org/bede-gh200/simple/ --machine gh200=aarch64 \\\n"
     "        --node x86=file:///shared/wheels/bede-x86/simple/\n"
     "    wheelyard-indexer client-config --to /shared/wheels/client --node main=/shared/wheels/main \\\n"
     "        --fallback https://index.example.org/simple/"},
};

}  // namespace

int main(int argc, char** argv) try {
    CLI::App app(
        "Renders a registry's wheels as a tree of plain files that pip, uv and any web server understand.",
        "wheelyard-indexer");
    app.set_version_flag("-V,--version",
                         wheelyard::base::version_text("wheelyard-indexer", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "    wheelyard-indexer publish --store /srv/wheelyard --to /srv/www/wheels --index main\n"
        "    wheelyard-indexer check --to /srv/www/wheels --store /srv/wheelyard --repair\n"
        "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/");

    std::vector<std::pair<CLI::App*, Run>> added;
    for (const CommandRow& row : commands) {
        CLI::App* command = app.add_subcommand(row.name, row.summary);
        if (row.help_end != nullptr) command->footer(row.help_end);
        added.emplace_back(command, row.add(*command));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return base::end_parse(app, error, argc, argv);
    }
    for (const auto& [command, run] : added) {
        if (!command->parsed()) continue;
        base::PrintedLines out(stdout, false);
        base::PrintedLines err(stderr, true);
        std::ostream to_out(&out);
        std::ostream to_err(&err);
        return run(to_out, to_err);
    }
    return 2;
} catch (const std::exception& error) {
    base::print(stderr, "wheelyard-indexer: internal error: %s\n", error.what());
    return 1;
}
