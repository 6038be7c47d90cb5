// wheelyard-registry: reads the command line, joins the registry with the indexer, and turns failures into
// exit statuses.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "indexer/catalogue/catalogue_keeper.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/status_file.hpp"
#include "indexer/tree/tree_lock.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/likely_command.hpp"
#include "lib/base/version.hpp"
#include "lib/io/log.hpp"
#include "registry/commands/apply.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/dump.hpp"
#include "registry/commands/explain.hpp"
#include "registry/commands/files.hpp"
#include "registry/commands/import.hpp"
#include "registry/commands/index.hpp"
#include "registry/commands/init.hpp"
#include "registry/commands/lifecycle.hpp"
#include "registry/commands/maintenance.hpp"
#include "registry/commands/prefetch.hpp"
#include "registry/commands/provenance.hpp"
#include "registry/commands/task.hpp"
#include "registry/commands/token.hpp"
#include "registry/database/store.hpp"
#include "registry/intake/check.hpp"
#include "registry/serve/serve.hpp"

namespace {

using namespace wheelyard;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;

// What the pages for people show of the configuration. They do not list staging indexes.
indexer::FarmText farm_text(const registry::RegistryConfig& config) {
    indexer::FarmText farm{.title = config.look.farm.name,
                           .text = config.look.text,
                           .contact = config.look.contact,
                           .style = config.look.style,
                           .logo = config.look.farm.logo,
                           .logo_bytes = {config.look.logo}};
    for (const auto& index : config.indexes) {
        if (!index.title.empty()) farm.titles.emplace(index.name, index.title);
        if (!index.has_pages) farm.without_pages.insert(index.name);
        if (index.is_archived) farm.hidden.insert(index.name);
        if (!index.staging.empty() && index.staging != index.name) farm.hidden.insert(index.staging);
    }
    return farm;
}

base::Result<indexer::PublishReport> publish_in_turn(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const registry::RegistryConfig& config,
                                                     base::Clock& clock, registry::RootPages wanted,
                                                     catalog::Readers readers) {
    const indexer::TreeViews views{.pages = config.pages, .farm = farm_text(config), .readers = readers};
    const std::filesystem::path tree =
        readers == catalog::Readers::everyone ? config.published() : config.published_private();
    const auto roots =
        wanted == registry::RootPages::all ? indexer::RootPages::all : indexer::RootPages::prompt;
    return indexer::in_turn(clock, [&] {
        return indexer::publish(catalog, blobs, tree, config.index_names(), clock, views, roots);
    });
}

// A registry without private indexes has no tree for them.
base::Result<bool> has_private_tree(const catalog::Catalog& catalog, const registry::RegistryConfig& config) {
    std::error_code ignored;
    if (std::filesystem::exists(config.published_private(), ignored)) return true;
    WHEELYARD_ASSIGN(const catalog::Inheritance rules, catalog.inheritance());
    return rules.has_private();
}

// The tree for everyone, then the one of the private indexes: an index that became private is removed from the first
// before it appears in the second. `private_tree` is set if there is one.
base::Result<indexer::PublishReport> publish_trees(const catalog::Catalog& catalog,
                                                   const blobs::BlobStore& blobs,
                                                   const registry::RegistryConfig& config, base::Clock& clock,
                                                   registry::RootPages wanted, bool& private_tree) {
    WHEELYARD_ASSIGN(indexer::PublishReport report,
                     publish_in_turn(catalog, blobs, config, clock, wanted, catalog::Readers::everyone));
    WHEELYARD_ASSIGN(private_tree, has_private_tree(catalog, config));
    if (!private_tree) return report;
    WHEELYARD_ASSIGN(indexer::PublishReport more,
                     publish_in_turn(catalog, blobs, config, clock, wanted, catalog::Readers::with_token));
    report.serial = std::min(report.serial, more.serial);
    report.project_pages += more.project_pages;
    report.root_pages += more.root_pages;
    report.web_pages += more.web_pages;
    report.files_linked += more.files_linked;
    report.files_removed += more.files_removed;
    std::move(more.lagging.begin(), more.lagging.end(), std::back_inserter(report.lagging));
    std::move(more.late_roots.begin(), more.late_roots.end(), std::back_inserter(report.late_roots));
    report.are_pages_late = report.are_pages_late || more.are_pages_late;
    return report;
}

// Publishing in this process: the indexer reads the catalog through a connection of its own. The catalogues
// that avail_wheels reads come behind the pages, on their own thread.
registry::OpenPublisher in_process_publisher(base::Clock& clock) {
    return [&clock](registry::ConfigView config, const database::Store& store,
                    const blobs::BlobStore& blobs) -> base::Result<registry::PublishFunction> {
        WHEELYARD_ASSIGN(auto opened, store.reader());
        const std::shared_ptr<const catalog::Catalog> catalog = std::move(opened);
        const auto keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(store, config->published(), clock));
        const auto private_keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(store, config->published_private(), clock));
        return [catalog, keeper, private_keeper, &clock, config,
                &blobs](registry::RootPages roots) -> base::Result<registry::Published> {
            const auto held = config.hold();
            bool private_tree = false;
            WHEELYARD_ASSIGN(indexer::PublishReport report,
                             publish_trees(*catalog, blobs, config, clock, roots, private_tree));
            keeper->want();
            if (private_tree) private_keeper->want();
            io::log_info("publish.done", {{"serial", std::to_string(report.serial)},
                                          {"events", std::to_string(report.events)},
                                          {"project_pages", std::to_string(report.project_pages)},
                                          {"root_pages", std::to_string(report.root_pages)},
                                          {"late_roots", std::to_string(report.late_roots.size())},
                                          {"web_pages", std::to_string(report.web_pages)},
                                          {"files_linked", std::to_string(report.files_linked)},
                                          {"files_removed", std::to_string(report.files_removed)}});
            registry::Published published(report.serial);
            published.late_roots = report.late_roots.size() + (report.are_pages_late ? 1 : 0);
            for (indexer::Lagging& item : report.lagging)
                published.lagging.push_back({std::move(item.index), std::move(item.project),
                                             std::move(item.filename), std::move(item.error)});
            return published;
        };
    };
}

// Pages of projects from upstreams look like all others.
registry::ProjectPages render_project(registry::OfferedProject offered) {
    indexer::ProjectView view =
        indexer::make_project_view(std::move(offered.project), std::move(offered.files));
    view.status = offered.status;
    view.status_reason = std::move(offered.status_reason);
    return {.html = indexer::render_project_html(view), .json = indexer::render_project_json(view)};
}

base::Status show_status(const std::filesystem::path& tree, const std::string& index,
                         const std::string& document) {
    indexer::LocalDisk disk;
    return indexer::write_status_file(disk, tree, index, document).map([](bool) {});
}

void add_serve(CLI::App& app, registry::ServeArguments& arguments) {
    CLI::App* command = registry::add_command(
        app, "serve", "serve pages, files and uploads until SIGTERM or SIGINT",
        "wheelyard-registry serve --config registry.toml --ready-file /run/wheelyard/ready");
    registry::add_config_option(command, arguments.config);
    command->add_flag("--check", arguments.check,
                      "check the configuration, the certificate and the store, and do not serve");
    command->add_option("--ready-file", arguments.ready_file,
                        "file that receives the server's URL once it is ready");
}

void add_check(CLI::App& app, registry::CheckArguments& arguments) {
    CLI::App* command = app.add_subcommand(
        "check", "check wheels and source distributions offline with the rules of an upload");
    command->add_option("paths", arguments.paths, "files, or folders whose *.whl and *.tar.gz are checked");
    command->add_flag("--json", arguments.json, "one JSON document on standard output");
    command->add_flag("--facts", arguments.facts,
                      "also print each file's facts; with --json also those of each ELF file");
    command->add_flag("-q,--quiet", arguments.quiet, "report only files that are not accepted");
    command->add_option("--threads", arguments.threads, "number of threads (default: one per core)");
    command->add_option("--policy", arguments.policy,
                        "use this preset (linux, manylinux-strict, mirror) or policy file");
    command->add_option("--explain", arguments.explain,
                        "explain the rule CODE, or `all`, instead of checking");
    command->add_flag("--markdown", arguments.markdown, "with --explain all: print docs/reference/rules.md");
    command->footer(
        "\nExample:\n  wheelyard-registry check --facts dist/*.whl\n  wheelyard-registry check --policy "
        "manylinux-strict dist\n\n"
        "Exit status: 0 every file is accepted, 1 some are refused or quarantined, 2 something cannot be "
        "read, or wrong usage.\n");
}

// Of every command; one run uses those of one.
struct Arguments {
    registry::ServeArguments serve;
    std::filesystem::path directory = ".";  // of `init`
    registry::TokenArguments token;
    registry::CheckArguments check;
    std::filesystem::path dump;  // its configuration
    registry::ApplyArguments apply;
    registry::IndexArguments index;
    registry::LifecycleArguments change;
    registry::ImportArguments import;
    registry::PrefetchArguments prefetch;
    registry::ExplainArguments explain;
    registry::FilesArguments files;
    registry::ProvenanceArguments provenance;
    registry::AuditArguments audit;
    registry::MaintenanceArguments maintenance;
    registry::TaskArguments task;
};

// In the order of --help.
void add_commands(CLI::App& app, Arguments& arguments) {
    add_serve(app, arguments.serve);
    registry::add_command(app, "init", "write a commented configuration, registry.toml",
                          "wheelyard-registry init farm")
        ->add_option("directory", arguments.directory, "target folder (default: .)");
    registry::add_token_commands(app, arguments.token);
    add_check(app, arguments.check);
    registry::add_config_option(
        registry::add_command(app, "dump", "print events, files, tokens and indexes as JSON lines",
                              "wheelyard-registry dump -c registry.toml"),
        arguments.dump);
    registry::add_apply_command(app, arguments.apply);
    registry::add_index_commands(app, arguments.index);
    registry::add_lifecycle_commands(app, arguments.change);
    registry::add_import_command(app, arguments.import);
    registry::add_prefetch_command(app, arguments.prefetch);
    registry::add_explain_command(app, arguments.explain);
    registry::add_files_command(app, arguments.files);
    registry::add_storage_command(app, arguments.files);
    registry::add_provenance_command(app, arguments.provenance);
    registry::add_audit_command(app, arguments.audit);
    registry::add_maintenance_commands(app, arguments.maintenance);
    registry::add_task_commands(app, arguments.task);
}

// The command that was chosen, but for `check`, which has exit statuses of its own.
base::Status run_command(const CLI::App& command, Arguments& arguments, base::Clock& clock) {
    const registry::OpenPublisher publisher = in_process_publisher(clock);
    const std::string& name = command.get_name();
    if (name == "serve")
        return registry::run_serve(arguments.serve, publisher, render_project, show_status, clock);
    if (name == "init") return registry::run_init(arguments.directory);
    if (name == "dump") return registry::run_dump(arguments.dump);
    if (name == "apply") return registry::run_apply(arguments.apply, clock);
    if (name == "verify") return registry::run_verify(arguments.maintenance, publisher, clock);
    if (name == "backup") return registry::run_backup(arguments.maintenance, clock);
    if (name == "restore") return registry::run_restore(arguments.maintenance, clock);
    if (name == "import") return registry::run_import(arguments.import, publisher, clock);
    if (name == "prefetch") return registry::run_prefetch(arguments.prefetch, clock);
    if (name == "explain") return registry::run_explain(arguments.explain, clock);
    if (name == "files") return registry::run_files(arguments.files);
    if (name == "storage") return registry::run_storage(arguments.files);
    if (name == "provenance") return registry::run_provenance(arguments.provenance);
    if (name == "audit") return registry::run_audit(arguments.audit);
    if (registry::choose_verb(name, arguments.change.action))
        return registry::run_lifecycle(arguments.change, publisher, clock);
    const std::string& verb = command.get_subcommands().front()->get_name();
    if (name == "index") return registry::run_index(verb, arguments.index, clock);
    if (name == "task") return registry::run_task(verb, arguments.task, clock);
    return registry::run_token(verb, arguments.token, clock);
}

int run(int argc, char** argv) {
    CLI::App app("wheelyard-registry receives, checks, stores and serves Python wheels.");
    app.name("wheelyard-registry");
    app.set_version_flag("--version", base::version_text("wheelyard-registry", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "\nExample:\n  wheelyard-registry init farm && wheelyard-registry serve --config "
        "farm/registry.toml\n");
    Arguments arguments;
    add_commands(app, arguments);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const std::string unknown = base::likely_word(app, argc, argv);
        if (unknown.empty()) return app.exit(error) == 0 ? 0 : exit_usage;
        std::fputs(("wheelyard-registry: " + unknown).c_str(), stderr);
        return exit_usage;
    }
    const CLI::App* command = app.get_subcommands().front();
    if (command->get_name() == "check") return registry::run_check(arguments.check);
    base::SystemClock clock;
    const base::Status status = run_command(*command, arguments, clock);
    if (status) return 0;
    base::print_untrusted(stderr, "wheelyard-registry: " + status.error().text() + "\n");
    return exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "wheelyard-registry: unexpected failure: %s\n", error.what());
        return exit_failed;
    }
}
