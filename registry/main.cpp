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
#include "lib/base/text/text.hpp"
#include "lib/base/version.hpp"
#include "lib/io/log.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commands/apply.hpp"
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
#include "registry/commands/target.hpp"
#include "registry/commands/task.hpp"
#include "registry/commands/token.hpp"
#include "registry/intake/check.hpp"
#include "registry/serve/serve.hpp"

namespace {

using namespace wheelyard;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr const char* exit_statuses =
    "\nExit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n";

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
    return [&clock](registry::ConfigView config,
                    const blobs::BlobStore& blobs) -> base::Result<registry::PublishFunction> {
        WHEELYARD_ASSIGN(catalog::Catalog opened,
                         catalog::Catalog::open(config->catalog_file(), catalog::Catalog::Mode::read_only));
        const auto catalog = std::make_shared<catalog::Catalog>(std::move(opened));
        const auto keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(config->catalog_file(), config->published(), clock));
        const auto private_keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(config->catalog_file(), config->published_private(), clock));
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

int exit_status(const base::Status& status) {
    if (status) return 0;
    base::print_untrusted(stderr, "wheelyard-registry: " + status.error().text() + "\n");
    return exit_failed;
}

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& example) {
    CLI::App* command = parent.add_subcommand(name, description);
    command->footer("\nExample:\n  " + example + "\n" + exit_statuses);
    return command;
}

void add_config(CLI::App* command, std::filesystem::path& config) {
    registry::add_config_option(command, config);
}

void add_serve(CLI::App& app, registry::ServeArguments& arguments) {
    CLI::App* command =
        add_command(app, "serve", "serve pages, files and uploads until SIGTERM or SIGINT",
                    "wheelyard-registry serve --config registry.toml --ready-file /run/wheelyard/ready");
    add_config(command, arguments.config);
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

void add_token(CLI::App& app, std::filesystem::path& config, registry::TokenCreateArguments& create,
               bool& json, std::string& id) {
    CLI::App* token =
        app.add_subcommand("token", "create, list and revoke tokens; effective at once on a running server");
    token->require_subcommand(1);
    token->footer("\nExample:\n  wheelyard-registry token create -c registry.toml --name me --index main\n");
    CLI::App* make = add_command(*token, "create", "create a token and print it once",
                                 "wheelyard-registry token create -c registry.toml --name bede-agent --index "
                                 "bede-gh200 --expires 90d");
    add_config(make, create.config);
    make->add_option("--name", create.name, "name of its user or program")->required();
    make->add_option("--index", create.indexes, "an index that it may use; repeatable, '*' for all")
        ->required();
    make->add_option("--project", create.projects, "a project that it may use (default: all)");
    make->add_option("--action", create.actions,
                     "a permitted action, repeatable: " + base::join(registry::token_actions(), ", ") +
                         " (default: upload)");
    make->add_option("--expires", create.expires, "its lifetime: 12h, 90d, 8w (default: forever)");
    CLI::Option* as_json =
        make->add_flag("--json", create.json, "one JSON document, the token's text in `token`");
    make->add_option("--to", create.to, "write the token to this new file (mode 0600) instead of printing it")
        ->excludes(as_json);
    CLI::App* list = add_command(*token, "list", "list tokens, never their secrets",
                                 "wheelyard-registry token list -c registry.toml");
    add_config(list, config);
    list->add_flag("--json", json, "a JSON array");
    CLI::App* revoke = add_command(*token, "revoke", "refuse a token from the next request on",
                                   "wheelyard-registry token revoke -c registry.toml wy_5f0c9a31d2be");
    add_config(revoke, config);
    revoke->add_option("id", id, "its id, as `token list` shows it")->required();
}

int run(int argc, char** argv) {
    CLI::App app("wheelyard-registry receives, checks, stores and serves Python wheels.");
    app.name("wheelyard-registry");
    app.set_version_flag("--version", base::version_text("wheelyard-registry", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "\nExample:\n  wheelyard-registry init farm && wheelyard-registry serve --config "
        "farm/registry.toml\n");

    base::SystemClock clock;
    registry::ServeArguments serve;
    add_serve(app, serve);

    std::filesystem::path directory = ".";
    add_command(app, "init", "write a commented configuration, registry.toml", "wheelyard-registry init farm")
        ->add_option("directory", directory, "target folder (default: .)");

    std::filesystem::path config;
    registry::TokenCreateArguments create;
    bool json = false;
    std::string id;
    add_token(app, config, create, json, id);
    registry::CheckArguments check;
    add_check(app, check);
    add_config(add_command(app, "dump", "print events, files, tokens and indexes as JSON lines",
                           "wheelyard-registry dump -c registry.toml"),
               config);

    registry::ApplyArguments apply;
    registry::add_apply_command(app, apply);
    registry::IndexArguments index;
    registry::add_index_commands(app, index);
    registry::LifecycleArguments change;
    registry::add_lifecycle_commands(app, change);
    registry::ImportArguments import;
    registry::add_import_command(app, import);
    registry::PrefetchArguments prefetch;
    registry::add_prefetch_command(app, prefetch);
    registry::ExplainArguments explain;
    registry::add_explain_command(app, explain);
    registry::FilesArguments files;
    registry::add_files_command(app, files);
    registry::add_storage_command(app, files);
    registry::ProvenanceArguments provenance;
    registry::add_provenance_command(app, provenance);
    registry::AuditArguments audit;
    registry::add_audit_command(app, audit);
    registry::MaintenanceArguments maintenance;
    registry::add_maintenance_commands(app, maintenance);
    registry::TaskArguments task;
    registry::add_task_commands(app, task);

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const std::string unknown = base::likely_word(app, argc, argv);
        if (unknown.empty()) return app.exit(error) == 0 ? 0 : exit_usage;
        std::fputs(("wheelyard-registry: " + unknown).c_str(), stderr);
        return exit_usage;
    }
    const CLI::App* command = app.get_subcommands().front();
    const std::string& name = command->get_name();
    if (name == "serve")
        return exit_status(
            registry::run_serve(serve, in_process_publisher(clock), render_project, show_status, clock));
    if (name == "apply") return exit_status(registry::run_apply(apply, clock));
    if (name == "init") return exit_status(registry::run_init(directory));
    if (name == "check") return registry::run_check(check);
    if (name == "dump") return exit_status(registry::run_dump(config));
    if (name == "verify")
        return exit_status(registry::run_verify(maintenance, in_process_publisher(clock), clock));
    if (name == "backup") return exit_status(registry::run_backup(maintenance, clock));
    if (name == "restore") return exit_status(registry::run_restore(maintenance));
    if (name == "import")
        return exit_status(registry::run_import(import, in_process_publisher(clock), clock));
    if (name == "prefetch") return exit_status(registry::run_prefetch(prefetch, clock));
    if (name == "explain") return exit_status(registry::run_explain(explain, clock));
    if (name == "files") return exit_status(registry::run_files(files));
    if (name == "storage") return exit_status(registry::run_storage(files));
    if (name == "provenance") return exit_status(registry::run_provenance(provenance));
    if (name == "audit") return exit_status(registry::run_audit(audit));
    if (registry::choose_verb(name, change.action))
        return exit_status(registry::run_lifecycle(change, in_process_publisher(clock), clock));
    const std::string& verb = command->get_subcommands().front()->get_name();
    if (name == "index") return exit_status(registry::run_index(verb, index, clock));
    if (name == "task") return exit_status(registry::run_task(verb, task, clock));
    if (verb == "create") return exit_status(registry::run_token_create(create, clock));
    if (verb == "list") return exit_status(registry::run_token_list(config, json, clock));
    return exit_status(registry::run_token_revoke(config, id, clock));
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
