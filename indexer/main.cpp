// wheelyard-indexer: parses the command line and calls a command.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "indexer/client_command.hpp"
#include "indexer/commands.hpp"
#include "lib/base/text/likely_command.hpp"
#include "lib/base/version.hpp"

namespace {

using namespace wheelyard;

CLI::App* add_publish(CLI::App& app, indexer::PublishOptions& options) {
    CLI::App* publish = app.add_subcommand("publish", "Bring a tree up to date with the registry's catalog");
    publish->add_option("--store", options.store, "The registry's data folder (catalog, blobs/)")
        ->required()
        ->check(CLI::ExistingDirectory);
    publish->add_option("--to", options.tree, "The folder to publish into")->required();
    publish->add_option("--index", options.indexes, "Create a root page for this index even if it is empty");
    publish->add_flag(
        "!--no-find-links", options.find_links,
        "Do not create INDEX/find-links/, a folder with every wheel (an existing one is kept up to date)");
    publish->add_flag("!--no-precompressed", options.precompressed,
                      "Do not create index.html.gz next to index.html (existing ones are kept up to date)");
    publish->add_flag(
        "!--no-pages", options.pages,
        "Do not create pages for people: INDEX/project/, INDEX/builds/, index.html (existing ones are kept "
        "up to date)");
    publish->add_flag(
        "--all", options.all,
        "Rewrite every page, even unchanged ones; files in place are trusted (`check` verifies them)");
    publish->add_flag(
        "--private", options.is_private,
        "Publish the indexes with read = \"token\" instead of the public ones; the folder gets mode 0700");
    publish->add_flag("--json", options.json, "Report as JSON");
    return publish;
}

void add_check(CLI::App& app, indexer::CheckOptions& options) {
    CLI::App* check = app.add_subcommand("check", "Follow every link of a tree and verify its target");
    check->add_option("--to", options.tree, "The published folder")
        ->required()
        ->check(CLI::ExistingDirectory);
    CLI::Option* check_store =
        check->add_option("--store", options.store, "Also compare with this registry's data folder")
            ->check(CLI::ExistingDirectory);
    check->add_flag("--repair", options.repair, "Repair the tree from the store and check again")
        ->needs(check_store);
    check->add_flag("--json", options.json, "Report as JSON");
    check->footer(
        "Examples:\n"
        "    wheelyard-indexer check --to /srv/www/wheels\n"
        "    wheelyard-indexer check --to /srv/www/wheels --store /srv/wheelyard --repair\n\n"
        "Exit status: 0 the tree is complete, 1 it is not, 2 wrong usage.");
}

CLI::App* add_follow(CLI::App& app, indexer::FollowCommand& options) {
    CLI::App* follow = app.add_subcommand("follow", "Mirror an index over HTTP, using its event log");
    follow
        ->add_option("--from", options.follow.from,
                     "The index's URL: of a registry, or of another tree behind any web server")
        ->required();
    follow->add_option("--to", options.follow.tree, "The folder to mirror into")->required();
    follow->add_option("--index", options.follow.index,
                       "The index's name in the tree (default: the last part of the URL)");
    follow->add_flag("--all", options.follow.all, "Check every project, not only those in the event log");
    follow->add_option("--every", options.every_s, "Repeat, with this many seconds between rounds")
        ->check(CLI::Range(1, 86'400));
    follow->add_flag("--json", options.json, "Report each round as JSON");
    follow->footer(
        "Example:\n"
        "    wheelyard-indexer follow --from https://wheels.example.org/main/ --to /srv/www/wheels --every "
        "60\n\n"
        "Exit status: 0 the tree is up to date, 1 something could not be fetched, 2 wrong usage.");
    return follow;
}

CLI::App* add_client_config(CLI::App& app, indexer::ClientOptions& options) {
    CLI::App* client = app.add_subcommand(
        "client-config", "Print configuration for pip, uv, poetry, pdm and environment modules");
    client
        ->add_option("--node", options.nodes,
                     "NAME=URL of an index's simple/ (https:, or file: without a server), or "
                     "NAME=/absolute/folder of such an index or of wheels; repeat it for "
                     "several node types")
        ->required();
    client->add_option("--machine", options.machines, "NAME=MACHINE: select this node type by `uname -m`");
    client->add_option("--host", options.hosts, "NAME=GLOB: select this node type by host name");
    client->add_option("--token", options.with_token,
                       "NAME: only tokens may read its index; the configuration says where the token goes");
    client->add_option("--site", options.site, "The modulefile's name")->capture_default_str();
    client->add_option("--kind", options.kind, "Print only this one")
        ->check(CLI::IsMember({"pip", "uv", "poetry", "pdm", "lmod", "tcl"}));
    client->add_option("--to", options.to, "Write files and modulefiles into this folder");
    client->add_flag("--json", options.json, "Report as JSON");
    client->footer(
        "Examples:\n"
        "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/ --kind pip\n"
        "    wheelyard-indexer client-config --to /shared/wheels/client --site bede \\\n"
        "        --node gh200=https://wheels.example.org/bede-gh200/simple/ --machine gh200=aarch64 \\\n"
        "        --node x86=file:///shared/wheels/bede-x86/simple/");
    return client;
}

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
        "    wheelyard-indexer follow --from https://wheels.example.org/main/ --to /srv/www/wheels\n"
        "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/");

    indexer::PublishOptions publish_options;
    CLI::App* publish = add_publish(app, publish_options);
    indexer::CheckOptions check_options;
    add_check(app, check_options);
    indexer::FollowCommand follow_command;
    CLI::App* follow = add_follow(app, follow_command);
    indexer::ClientOptions client_options;
    CLI::App* client = add_client_config(app, client_options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const std::string unknown = base::likely_word(app, argc, argv);
        if (unknown.empty()) return app.exit(error) == 0 ? 0 : 2;
        std::cerr << "wheelyard-indexer: " << unknown;
        return 2;
    }
    if (client->parsed()) return indexer::run_client_config(client_options, std::cout, std::cerr);
    base::SystemClock clock;
    if (follow->parsed()) return indexer::run_follow(follow_command, clock, std::cout, std::cerr);
    return publish->parsed() ? indexer::run_publish(publish_options, clock, std::cout, std::cerr)
                             : indexer::run_check(check_options, clock, std::cout, std::cerr);
} catch (const std::exception& error) {
    std::cerr << "wheelyard-indexer: internal error: " << error.what() << '\n';
    return 1;
}
