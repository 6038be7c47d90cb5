// wheelyard-indexer: the command line, and nothing else.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "indexer/client_command.hpp"
#include "indexer/commands.hpp"

int main(int argc, char** argv) try {
    using namespace wheelyard;
    CLI::App app(
        "Renders a registry's wheels as a tree of plain files that pip, uv and any web server understand.",
        "wheelyard-indexer");
    app.set_version_flag("-V,--version", "wheelyard-indexer " WHEELYARD_VERSION);
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "    wheelyard-indexer publish --store /srv/wheelyard --to /srv/www/wheels --index main\n"
        "    wheelyard-indexer check --to /srv/www/wheels --store /srv/wheelyard --repair\n"
        "    wheelyard-indexer follow --from https://wheels.example.org/main/ --to /srv/www/wheels\n"
        "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/");

    indexer::PublishOptions publish_options;
    CLI::App* publish = app.add_subcommand("publish", "Bring a tree up to date with the registry's catalog");
    publish
        ->add_option("--store", publish_options.store, "The registry's data folder (catalog.sqlite, blobs/)")
        ->required()
        ->check(CLI::ExistingDirectory);
    publish->add_option("--to", publish_options.tree, "The folder that is published")->required();
    publish->add_option("--index", publish_options.indexes,
                        "Give this index a root page even while it is empty");
    publish->add_flag(
        "!--no-find-links", publish_options.find_links,
        "Do not begin a folder INDEX/find-links/ with every wheel (a tree that has one keeps it)");
    publish->add_flag(
        "!--no-precompressed", publish_options.precompressed,
        "Do not begin to put index.html.gz beside index.html (a tree that has them keeps them)");
    publish->add_flag(
        "--all", publish_options.all,
        "Make every page anew, whatever the tree shows already; its files are believed (`check` reads them)");
    publish->add_flag("--json", publish_options.json, "Report as JSON");

    indexer::CheckOptions check_options;
    CLI::App* check = app.add_subcommand("check", "Follow every link of a tree and verify what it promises");
    check->add_option("--to", check_options.tree, "The folder that is published")
        ->required()
        ->check(CLI::ExistingDirectory);
    CLI::Option* check_store =
        check->add_option("--store", check_options.store, "Compare with this registry's data folder too")
            ->check(CLI::ExistingDirectory);
    check
        ->add_flag("--repair", check_options.repair,
                   "Bring the tree back to what the store says, and check again")
        ->needs(check_store);
    check->add_flag("--json", check_options.json, "Report as JSON");
    check->footer(
        "Examples:\n"
        "    wheelyard-indexer check --to /srv/www/wheels\n"
        "    wheelyard-indexer check --to /srv/www/wheels --store /srv/wheelyard --repair\n\n"
        "Exit status: 0 the tree is whole, 1 it is not, 2 wrong usage.");

    indexer::FollowCommand follow_command;
    CLI::App* follow = app.add_subcommand(
        "follow", "Keep a tree like an index that is reached over HTTP, from its event log");
    follow
        ->add_option("--from", follow_command.follow.from,
                     "The index's address: a registry's, or another tree's behind any web server")
        ->required();
    follow->add_option("--to", follow_command.follow.tree, "The folder that is kept")->required();
    follow->add_option("--index", follow_command.follow.index,
                       "Its name here (default: the address's last part)");
    follow->add_flag("--all", follow_command.follow.all, "Look at every project, whatever the log says");
    follow->add_option("--every", follow_command.every_s, "Go on, with so many seconds between two rounds")
        ->check(CLI::Range(1, 86'400));
    follow->add_flag("--json", follow_command.json, "Report each round as JSON");
    follow->footer(
        "Example:\n"
        "    wheelyard-indexer follow --from https://wheels.example.org/main/ --to /srv/www/wheels --every "
        "60\n\n"
        "Exit status: 0 the tree is up to date, 1 something could not be fetched, 2 wrong usage.");

    indexer::ClientOptions client_options;
    CLI::App* client = app.add_subcommand(
        "client-config", "What pip, uv, poetry, pdm and environment modules need to be told to use an index");
    client
        ->add_option("--node", client_options.nodes,
                     "NAME=URL of an index's simple/ (https:, or file: where there is no server), or "
                     "NAME=/absolute/folder of such an index or of wheels; several times where a site has "
                     "several kinds of nodes")
        ->required();
    client->add_option("--machine", client_options.machines,
                       "NAME=MACHINE: this kind of node, by `uname -m`");
    client->add_option("--host", client_options.hosts, "NAME=GLOB: this kind of node, by its host's name");
    client->add_option("--site", client_options.site, "The modulefile's name")->capture_default_str();
    client->add_option("--kind", client_options.kind, "Print this one alone")
        ->check(CLI::IsMember({"pip", "uv", "poetry", "pdm", "lmod", "tcl"}));
    client->add_option("--to", client_options.to, "Write files and modulefiles into this folder");
    client->add_flag("--json", client_options.json, "Report as JSON");
    client->footer(
        "Examples:\n"
        "    wheelyard-indexer client-config --node main=https://wheels.example.org/main/simple/ --kind pip\n"
        "    wheelyard-indexer client-config --to /shared/wheels/client --site bede \\\n"
        "        --node gh200=https://wheels.example.org/bede-gh200/simple/ --machine gh200=aarch64 \\\n"
        "        --node x86=file:///shared/wheels/bede-x86/simple/");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (client->parsed()) return indexer::run_client_config(client_options, std::cout, std::cerr);
    base::SystemClock clock;
    if (follow->parsed()) return indexer::run_follow(follow_command, clock, std::cout, std::cerr);
    return publish->parsed() ? indexer::run_publish(publish_options, clock, std::cout, std::cerr)
                             : indexer::run_check(check_options, clock, std::cout, std::cerr);
} catch (const std::exception& error) {
    std::cerr << "wheelyard-indexer: a bug or a broken environment: " << error.what() << '\n';
    return 1;
}
