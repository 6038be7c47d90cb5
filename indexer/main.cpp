// wheelyard-indexer: the command line, and nothing else.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

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
        "    wheelyard-indexer check --to /srv/www/wheels");

    indexer::PublishOptions publish_options;
    CLI::App* publish = app.add_subcommand("publish", "Bring a tree up to date with the registry's catalog");
    publish
        ->add_option("--store", publish_options.store, "The registry's data folder (catalog.sqlite, blobs/)")
        ->required()
        ->check(CLI::ExistingDirectory);
    publish->add_option("--to", publish_options.tree, "The folder that is published")->required();
    publish->add_option("--index", publish_options.indexes,
                        "Give this index a root page even while it is empty");
    publish->add_flag("--json", publish_options.json, "Report as JSON");

    indexer::CheckOptions check_options;
    CLI::App* check = app.add_subcommand("check", "Follow every link of a tree and verify what it promises");
    check->add_option("--to", check_options.tree, "The folder that is published")
        ->required()
        ->check(CLI::ExistingDirectory);
    check->add_flag("--json", check_options.json, "Report as JSON");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const base::SystemClock clock;
    return publish->parsed() ? indexer::run_publish(publish_options, clock, std::cout, std::cerr)
                             : indexer::run_check(check_options, std::cout, std::cerr);
} catch (const std::exception& error) {
    std::cerr << "wheelyard-indexer: a bug or a broken environment: " << error.what() << '\n';
    return 1;
}
