// wheelyard-registry: the groups and the order of its commands, what joins the registry with the indexer, and
// exit statuses.
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/kept_pages.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/wheel_list/wheel_list_keeper.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"
#include "lib/io/log.hpp"
#include "lib/io/toml.hpp"
#include "lib/store/store.hpp"
#include "registry/commands/command.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/intake/check.hpp"
#include "registry/serve/serve.hpp"
#include "registry/server/limits.hpp"

namespace {

using namespace wheelyard;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;  // wrong usage or configuration

// `serve` compresses pages up to max_cached_page_bytes; of larger ones the tree has the copies.
static_assert(indexer::min_large_page_bytes <= http::max_cached_page_bytes);

indexer::FarmText farm_text(const registry::RegistryConfig& config) {
    indexer::FarmText farm{.title = config.look.farm.name,
                           .text = config.look.text,
                           .contact = config.look.contact,
                           .style = config.look.style,
                           .logo = config.look.farm.logo,
                           .url = config.server.public_url,
                           .login = config.look.farm.login,
                           .logo_bytes = {config.look.logo}};
    for (const auto& index : config.indexes) {
        if (!index.title.empty()) farm.titles.emplace(index.name, index.title);
        for (const auto& upstream : index.upstreams) {
            std::string& names = farm.upstreams[index.name];
            names += (names.empty() ? "" : ", ") + upstream.name;
        }
        if (!index.has_pages) farm.without_pages.insert(index.name);
        if (index.is_archived) farm.hidden.insert(index.name);
        if (!index.staging.empty() && index.staging != index.name) farm.hidden.insert(index.staging);
    }
    for (const std::string& cache : config.cache_names())
        farm.hidden.insert(cache);  // the server shows its projects as the index's own
    return farm;
}

base::Result<indexer::PublishReport> publish_in_turn(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const registry::RegistryConfig& config,
                                                     base::Clock& clock, registry::RootPages wanted,
                                                     catalog::Readers readers, indexer::KeptPages& kept) {
    const indexer::TreeViews views{.pages = config.pages,
                                   .farm = farm_text(config),
                                   .root_url = config.secure_root_url(),
                                   .readers = readers};
    const std::filesystem::path tree =
        readers == catalog::Readers::everyone ? config.published() : config.published_private();
    const auto roots =
        wanted == registry::RootPages::all ? indexer::RootPages::all : indexer::RootPages::prompt;
    return indexer::in_turn(clock, [&] {
        return indexer::publish(catalog, blobs, tree, config.index_names(), clock, views, roots, &kept);
    });
}

// A registry without private indexes has no tree for them.
base::Result<bool> has_private_tree(const catalog::Catalog& catalog, const registry::RegistryConfig& config) {
    std::error_code ignored;
    if (std::filesystem::exists(config.published_private(), ignored)) return true;
    WHEELYARD_ASSIGN(const catalog::Inheritance rules, catalog.inheritance());
    return rules.has_private();
}

// Of the tree for everyone, and of the one of the private indexes.
struct KeptOfTrees {
    indexer::KeptPages of_everyone;
    indexer::KeptPages with_token;
};

// The tree for everyone, then the one of the private indexes: an index that became private is removed from
// the first before it appears in the second. `private_tree` is set if there is one.
base::Result<indexer::PublishReport> publish_trees(const catalog::Catalog& catalog,
                                                   const blobs::BlobStore& blobs,
                                                   const registry::RegistryConfig& config, base::Clock& clock,
                                                   registry::RootPages wanted, KeptOfTrees& kept,
                                                   bool& private_tree) {
    WHEELYARD_ASSIGN(
        indexer::PublishReport report,
        publish_in_turn(catalog, blobs, config, clock, wanted, catalog::Readers::everyone, kept.of_everyone));
    WHEELYARD_ASSIGN(private_tree, has_private_tree(catalog, config));
    if (!private_tree) return report;
    WHEELYARD_ASSIGN(indexer::PublishReport more,
                     publish_in_turn(catalog, blobs, config, clock, wanted, catalog::Readers::with_token,
                                     kept.with_token));
    report.serial = std::min(report.serial, more.serial);
    report.project_pages += more.project_pages;
    report.root_pages += more.root_pages;
    report.web_pages += more.web_pages;
    report.files_linked += more.files_linked;
    report.files_removed += more.files_removed;
    std::move(more.lagging.begin(), more.lagging.end(), std::back_inserter(report.lagging));
    std::move(more.late_roots.begin(), more.late_roots.end(), std::back_inserter(report.late_roots));
    report.are_pages_late = report.are_pages_late || more.are_pages_late;
    report.late_copies += more.late_copies;
    return report;
}

// Publishing in this process: the indexer reads the catalog through a connection of its own. The wheel lists
// that avail_wheels reads come behind the pages, on their own thread. A command prints what it did instead of
// the log.
registry::OpenPublisher in_process_publisher(base::Clock& clock, bool logs) {
    return [&clock, logs](registry::ConfigView config, const database::Store& store,
                          const blobs::BlobStore& blobs) -> base::Result<registry::PublishFunction> {
        WHEELYARD_ASSIGN(auto opened, store.reader());
        const std::shared_ptr<const catalog::Catalog> catalog = std::move(opened);
        const auto keeper = std::make_shared<indexer::WheelListKeeper>(
            indexer::wheel_list_update(store, config.held()->published(), clock));
        const auto private_keeper = std::make_shared<indexer::WheelListKeeper>(
            indexer::wheel_list_update(store, config.held()->published_private(), clock));
        return [catalog, keeper, private_keeper, &clock, config, &blobs, logs,
                kept = std::make_shared<KeptOfTrees>()](
                   registry::RootPages roots) -> base::Result<registry::Published> {
            const auto alone = config.lock_runs();
            const registry::ConfigView held = config.held();
            bool private_tree = false;
            WHEELYARD_ASSIGN(indexer::PublishReport report,
                             publish_trees(*catalog, blobs, held, clock, roots, *kept, private_tree));
            keeper->want();
            if (private_tree) private_keeper->want();
            if (logs)
                io::log_info("publish.done", {{"serial", std::to_string(report.serial)},
                                              {"events", std::to_string(report.events)},
                                              {"project_pages", std::to_string(report.project_pages)},
                                              {"root_pages", std::to_string(report.root_pages)},
                                              {"late_roots", std::to_string(report.late_roots.size())},
                                              {"web_pages", std::to_string(report.web_pages)},
                                              {"files_linked", std::to_string(report.files_linked)},
                                              {"files_removed", std::to_string(report.files_removed)}});
            registry::Published published(report.serial);
            published.late_roots =
                report.late_roots.size() + (report.are_pages_late || report.late_copies > 0 ? 1 : 0);
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
    view.variants = std::move(offered.variants);
    view.status = offered.status;
    view.status_reason = std::move(offered.status_reason);
    view.attested = std::move(offered.attested);
    view.root_url = std::move(offered.root_url);
    return {.html = indexer::render_project_html(view), .json = indexer::render_project_json(view)};
}

base::Result<bool> show_status(const std::filesystem::path& tree, const std::string& index,
                               const std::string& document) {
    indexer::LocalDisk disk;
    return indexer::write_status_file(disk, tree, index, document);
}

void add_serve_options(CLI::App& command, registry::ServeArguments& arguments) {
    registry::add_config_option(command, arguments.config);
    command.add_flag("--check", arguments.check,
                     "Check the configuration, the certificate and the store, and do not serve");
    command.add_option("--ready-file", arguments.ready_file,
                       "File that receives the server's URL once it is ready");
}

base::Status serve(const registry::ServeArguments& arguments, const registry::OpenPublisher& open_publisher,
                   base::Clock& clock) {
    return registry::run_serve(arguments, open_publisher, render_project, show_status, clock);
}

void add_check_options(CLI::App& command, registry::CheckArguments& arguments) {
    command.add_option("paths", arguments.paths, "Files, or folders whose *.whl and *.tar.gz are checked");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
    command.add_flag("--facts", arguments.facts,
                     "Also print each file's facts; with --json also those of each ELF file");
    command.add_flag("-q,--quiet", arguments.quiet, "Report only files that are not accepted");
    command.add_option("--threads", arguments.threads, "Number of threads (default: one per core)");
    command.add_option("--policy", arguments.policy,
                       "Use this preset (linux, manylinux-strict, mirror) or policy file");
    command.add_option(
        "--with", arguments.with,
        "Also judge whether each wheel's libraries can be loaded with this torch: its wheel, or "
        "the folder `torch` of an environment");
    command.add_option("--explain", arguments.explain,
                       "Explain the rule CODE, or `all`, instead of checking");
    command.add_flag("--markdown", arguments.markdown, "With --explain all: print docs/reference/rules.md");
}

constexpr registry::CommandGroup groups[] = {
    {registry::heading::server, "token",
     "Create, list and revoke tokens; effective at once on a running server",
     "create -c registry.toml --name me --index main"},
    {registry::heading::server, "agent",
     "Enrol agents of sites, which renew their tokens themselves, and revoke them",
     "enrol bede-gh200 -c registry.toml --index bede-gh200"},
    {registry::heading::indexes, "index", "List and show indexes", "list -c registry.toml"},
    {registry::heading::reasons, "attest", "Keys, and signed statements about wheels that agents built",
     "verify torch-2.4.0-cp312-cp312-linux_aarch64.whl --root root.json"},
    {registry::heading::server, "notify", "Who is told what needs a person", ""},
    {registry::heading::store, "store", "Where the wheels are kept",
     "migrate -c registry.toml --to registry-s3.toml"},
    {registry::heading::adding, "task", "Wheels that agents are asked to build", ""},
};

std::vector<registry::Command> serve_commands() {
    using registry::setup;
    return {
        {registry::heading::server, "serve", "Serve pages, files and uploads until SIGTERM or SIGINT",
         "--config registry.toml --ready-file /run/wheelyard/ready", setup(add_serve_options, serve)},
    };
}

std::vector<registry::Command> check_commands() {
    using registry::setup;
    return {
        {registry::heading::adding, "check",
         "Check wheels and source distributions offline with the rules of an upload",
         "--facts dist/*.whl\n  wheelyard-registry check --policy manylinux-strict dist\n"
         "  wheelyard-registry check --with torch-2.6.0-cp311-cp311-linux_x86_64.whl torchvision-*.whl",
         setup(add_check_options, registry::run_check),
         "Exit status: 0 every file is accepted and fits, 1 some are refused, quarantined or not known to "
         "fit, 2 "
         "something cannot be read, or wrong usage.\n"},
    };
}

// In the order of --help.
std::vector<registry::Command> commands() {
    std::vector<registry::Command> all;
    for (const auto part : {
             serve_commands,
             registry::init_commands,
             registry::token_commands,
             registry::notify_commands,
             check_commands,
             registry::dump_commands,
             registry::apply_commands,
             registry::index_commands,
             registry::lifecycle_commands,
             registry::import_commands,
             registry::prefetch_commands,
             registry::reading_commands,
             registry::release_project_commands,
             registry::files_commands,
             registry::contains_commands,
             registry::audit_osv_commands,
             registry::attest_commands,
             registry::attest_verify_commands,
             registry::audit_commands,
             registry::audit_export_commands,
             registry::maintenance_commands,
             registry::migrate_commands,
             registry::task_commands,
         }) {
        for (registry::Command& row : part())
            all.push_back(std::move(row));
    }
    return all;
}

int run(int argc, char** argv) {
    CLI::App app("wheelyard-registry receives, checks, stores and serves Python wheels.");
    app.name("wheelyard-registry");
    app.set_version_flag("-V,--version", base::version_text("wheelyard-registry", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "\nExample:\n  wheelyard-registry init farm && wheelyard-registry serve --config "
        "farm/registry.toml\n");
    const auto added = registry::add_commands(app, groups, commands());
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return base::end_parse(app, error, argc, argv);
    }
    base::SystemClock clock;
    const auto ended = registry::run_parsed(
        added, {.open_publisher = in_process_publisher(clock, app.got_subcommand("serve")), .clock = clock});
    if (ended) return *ended;
    base::print_message(stderr, "wheelyard-registry: " + ended.error().text() + "\n");
    return io::is_of_configuration(ended.error()) ? exit_usage : exit_failed;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        base::print(stderr, "wheelyard-registry: unexpected failure: %s\n", error.what());
        return exit_failed;
    }
}
