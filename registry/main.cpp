// wheelyard-registry: the table of its commands, what joins the registry with the indexer, and exit statuses. It is long
// because the table has the whole help of each command.
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

#include "indexer/catalogue/catalogue_keeper.hpp"
#include "indexer/pages/project_view.hpp"
#include "indexer/pages/simple_html.hpp"
#include "indexer/pages/simple_json.hpp"
#include "indexer/publish/publish.hpp"
#include "indexer/tree/disk.hpp"
#include "indexer/tree/limits.hpp"
#include "indexer/tree/status_file.hpp"
#include "indexer/tree/tree_lock.hpp"
#include "lib/attest/keys.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/usage.hpp"
#include "lib/base/version.hpp"
#include "lib/io/log.hpp"
#include "registry/commands/apply.hpp"
#include "registry/commands/attest.hpp"
#include "registry/commands/attest_index.hpp"
#include "registry/commands/audit_osv.hpp"
#include "registry/commands/command.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/contains.hpp"
#include "registry/commands/dump.hpp"
#include "registry/commands/explain.hpp"
#include "registry/commands/files.hpp"
#include "registry/commands/import.hpp"
#include "registry/commands/index.hpp"
#include "registry/commands/init.hpp"
#include "registry/commands/lifecycle.hpp"
#include "registry/commands/maintenance.hpp"
#include "registry/commands/migrate.hpp"
#include "registry/commands/notify.hpp"
#include "registry/commands/prefetch.hpp"
#include "registry/commands/provenance.hpp"
#include "registry/commands/release_project.hpp"
#include "registry/commands/sbom.hpp"
#include "registry/commands/task.hpp"
#include "registry/commands/token.hpp"
#include "registry/database/store.hpp"
#include "registry/intake/check.hpp"
#include "registry/serve/serve.hpp"
#include "registry/server/limits.hpp"

namespace {

using namespace wheelyard;

constexpr int exit_failed = 1;

// `serve` compresses pages up to max_cached_page_bytes; of larger ones the tree has the copies.
static_assert(indexer::min_large_page_bytes <= http::max_cached_page_bytes);

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
        for (const auto& upstream : index.upstreams)
            farm.hidden.insert(upstream.cache_index);  // the server shows its projects as the index's own
    }
    return farm;
}

using Signer = std::optional<indexer::IndexSigner>;

// `key` keeps what the signer points to.
base::Result<Signer> read_signer(const registry::AttestConfig& config,
                                 std::shared_ptr<const attest::SigningKey>& key) {
    if (config.key.empty()) return std::nullopt;
    WHEELYARD_ASSIGN(attest::SigningKey read, attest::SigningKey::read(config.key));
    key = std::make_shared<const attest::SigningKey>(std::move(read));
    return indexer::IndexSigner{
        .key = key.get(), .history = config.history, .valid_ms = config.index_valid_ms};
}

// PEP 740 asks for a secure origin.
std::string root_url(const registry::RegistryConfig& config) {
    const std::string& url = config.server.public_url;
    if (!url.starts_with("https://")) return {};
    return url.ends_with('/') ? url : url + "/";
}

base::Result<indexer::PublishReport> publish_in_turn(const catalog::Catalog& catalog,
                                                     const blobs::BlobStore& blobs,
                                                     const registry::RegistryConfig& config,
                                                     base::Clock& clock, registry::RootPages wanted,
                                                     catalog::Readers readers, const Signer& signer) {
    const indexer::TreeViews views{.pages = config.pages,
                                   .farm = farm_text(config),
                                   .root_url = root_url(config),
                                   .readers = readers,
                                   .signer = signer};
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
                                                   registry::RootPages wanted, const Signer& signer,
                                                   bool& private_tree) {
    WHEELYARD_ASSIGN(indexer::PublishReport report, publish_in_turn(catalog, blobs, config, clock, wanted,
                                                                    catalog::Readers::everyone, signer));
    WHEELYARD_ASSIGN(private_tree, has_private_tree(catalog, config));
    if (!private_tree) return report;
    WHEELYARD_ASSIGN(indexer::PublishReport more, publish_in_turn(catalog, blobs, config, clock, wanted,
                                                                  catalog::Readers::with_token, signer));
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

// Publishing in this process: the indexer reads the catalog through a connection of its own. The wheel lists
// that avail_wheels reads come behind the pages, on their own thread. A command prints what it did instead of the log.
registry::OpenPublisher in_process_publisher(base::Clock& clock, bool logs) {
    return [&clock, logs](registry::ConfigView config, const database::Store& store,
                          const blobs::BlobStore& blobs) -> base::Result<registry::PublishFunction> {
        WHEELYARD_ASSIGN(auto opened, store.reader());
        const std::shared_ptr<const catalog::Catalog> catalog = std::move(opened);
        const auto keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(store, config->published(), clock));
        const auto private_keeper = std::make_shared<indexer::CatalogueKeeper>(
            indexer::catalogue_update(store, config->published_private(), clock));
        std::shared_ptr<const attest::SigningKey> key;
        WHEELYARD_ASSIGN(const Signer signer, read_signer(config->attest, key));
        return [catalog, keeper, private_keeper, &clock, config, &blobs, key, signer,
                logs](registry::RootPages roots) -> base::Result<registry::Published> {
            const auto held = config.hold();
            bool private_tree = false;
            WHEELYARD_ASSIGN(indexer::PublishReport report,
                             publish_trees(*catalog, blobs, config, clock, roots, signer, private_tree));
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
    view.variants = std::move(offered.variants);
    view.status = offered.status;
    view.status_reason = std::move(offered.status_reason);
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

void add_init_options(CLI::App& command, std::filesystem::path& directory) {
    directory = ".";
    command.add_option("directory", directory, "Target folder (default: .)");
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

base::Status list_tokens(const registry::TokenArguments& arguments, const base::Clock& clock) {
    return registry::run_token_list(arguments.config, arguments.json, clock);
}

base::Status revoke_token(const registry::TokenArguments& arguments, const base::Clock& clock) {
    return registry::run_token_revoke(arguments.config, arguments.id, clock);
}

base::Status forget_person(const registry::TokenArguments& arguments, const base::Clock&) {
    return registry::run_token_forget(arguments.config, arguments.id);
}

// The status of commands that may be repeated.
constexpr std::string_view repeatable =
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage.\n";
constexpr std::string_view of_tasks =
    "Exit status: 0 success; 1 failure (see standard error); 2 wrong usage.\n";
constexpr std::string_view of_maintenance =
    "Exit status: 0 success, 1 problems found or failure (see standard error), 2 wrong usage.\n";
constexpr std::string_view of_indexes =
    "With -c it works on the running server of this machine, or on the store if none runs; run it as "
    "the server's user or as root. With --url the token needs the action `index` for all indexes.\n"
    "Exit status: 0 success, also if nothing had to change; 1 failure (see standard error); 2 wrong usage.\n";
constexpr std::string_view of_files =
    "With --url the token needs an action that changes files, such as `quarantine`, for all projects.\n"
    "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n";

// A change to published files: lifecycle::verbs() has its name.
registry::Command change(lifecycle::Verb verb, std::string_view summary, std::string_view example) {
    const auto options = [verb](CLI::App& command, registry::LifecycleArguments& arguments) {
        registry::add_lifecycle_options(command, verb, arguments);
    };
    return {"",
            lifecycle::row_of(verb).word,
            summary,
            example,
            registry::with_options<registry::LifecycleArguments>(options, registry::run_lifecycle),
            repeatable};
}

constexpr registry::CommandGroup groups[] = {
    {"token", "Create, list and revoke tokens; effective at once on a running server",
     "create -c registry.toml --name me --index main"},
    {"agent", "Enrol agents of sites, which renew their tokens themselves, and revoke them",
     "enrol bede-gh200 -c registry.toml --index bede-gh200"},
    {"index", "List, create, change and archive indexes; effective at once on a running server",
     "create gpu title='Wheels with CUDA' -c registry.toml"},
    {"attest", "Keys, signed statements about wheels that agents built, and signed indexes",
     "verify torch-2.4.0-cp312-cp312-linux_aarch64.whl --root root.json"},
    {"notify", "Who is told what needs a person", ""},
    {"store", "Where the wheels are kept", "migrate -c registry.toml --to registry-s3.toml"},
    {"task", "Wheels that agents are asked to build", ""},
};

// Group, name, summary, example, options and what runs, and the end of the help; in the order of --help.
std::vector<registry::Command> commands() {
    using lifecycle::Verb;
    using registry::setup;
    return {
        {"", "serve", "Serve pages, files and uploads until SIGTERM or SIGINT",
         "--config registry.toml --ready-file /run/wheelyard/ready", setup(add_serve_options, serve)},
        {"", "init", "Write a commented configuration, registry.toml", "farm",
         setup(add_init_options, registry::run_init)},
        {"token", "create", "Create a token and print it once",
         "-c registry.toml --name bede-agent --index bede-gh200 --expires 90d",
         setup(registry::add_token_create_options, registry::run_token_create)},
        {"token", "list", "List tokens, never their secrets", "-c registry.toml",
         setup(registry::add_token_list_options, list_tokens)},
        {"token", "revoke", "Refuse a token from the next request on", "-c registry.toml wy_5f0c9a31d2be",
         setup(registry::add_token_revoke_options, revoke_token)},
        {"token", "forget", "End all log-ins of a person and remove the person's name",
         "-c registry.toml login:campus:3f2a9c81d04e77b0",
         setup(registry::add_token_forget_options, forget_person)},
        {"agent", "enrol", "Make a one-use code, by which the agent of a site gets tokens and renews them",
         "bede-gh200 -c registry.toml --index bede-gh200 --action upload --action build",
         setup(registry::add_agent_enrol_options, registry::run_agent_enrol),
         "The code ends after an hour. What the agent gets lasts 12 hours, and it renews that itself.\n"
         "An agent makes no tokens: the actions `token` and `*` are refused.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"agent", "revoke",
         "End the enrolment of a site's agent and all its tokens, from the next request on",
         "bede-gh200 -c registry.toml",
         setup(registry::add_agent_revoke_options, registry::run_agent_revoke)},
        {"notify", "test", "Run the command of [notify] on a test notice, and show what it prints",
         "-c registry.toml", setup(registry::add_notify_options, registry::run_notify)},
        {"", "check", "Check wheels and source distributions offline with the rules of an upload",
         "--facts dist/*.whl\n  wheelyard-registry check --policy manylinux-strict dist\n"
         "  wheelyard-registry check --with torch-2.6.0-cp311-cp311-linux_x86_64.whl torchvision-*.whl",
         setup(add_check_options, registry::run_check),
         "Exit status: 0 every file is accepted and fits, 1 some are refused, quarantined or not known to "
         "fit, 2 "
         "something cannot be read, or wrong usage.\n"},
        {"", "dump", "Print events, files, tokens and indexes as JSON lines", "-c registry.toml",
         setup(registry::add_config_option, registry::run_dump)},
        {"", "apply", "Show what the file changes in the indexes, and apply it to the running server",
         "--check -c registry.toml", setup(registry::add_apply_options, registry::run_apply),
         "Run it on the server's machine, as its user or as root. Without a running server, the next start "
         "shows the change. What `index create`, `set` and `archive` changed since is part of the "
         "difference.\n"
         "Exit status: 0 success, 1 the file is refused or was not applied (see standard error), 2 wrong "
         "usage.\n"},
        {"index", "list", "List the indexes that are in force", "-c registry.toml",
         setup(registry::add_index_list_options, registry::run_index_list), of_indexes},
        {"index", "show", "Print indexes as [[index]] tables for registry.toml", "main -c registry.toml",
         setup(registry::add_index_show_options, registry::run_index_show), of_indexes},
        {"index", "create", "Create an index",
         "archer2 title='Wheels for ARCHER2' quota_mib=512000 -c registry.toml",
         setup(registry::add_index_create_options, registry::run_index_create), of_indexes},
        {"index", "set", "Change keys of an index",
         "archer2 sdists=true 'owns=[\"torch\"]' policy.preset=mirror -c registry.toml",
         setup(registry::add_index_set_options, registry::run_index_set), of_indexes},
        {"index", "archive",
         "Keep an index and its files, and take no new ones; `index set NAME archived=false` ends that",
         "archer2 -c registry.toml", setup(registry::add_index_archive_options, registry::run_index_archive),
         of_indexes},
        change(Verb::yank, "Hide a file from installers, except for exact pins (PEP 592)",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'broken on ppc64le' -c registry.toml"),
        change(Verb::unyank, "Undo a yank", "main six-1.16.0-py2.py3-none-any.whl -c registry.toml"),
        change(Verb::remove, "Delete a file; its name is never used again",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'built from the wrong tag' -c registry.toml"),
        change(Verb::quarantine, "Stop showing and serving a file, but keep it",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'under suspicion' -c registry.toml"),
        change(Verb::release, "Show and serve a quarantined file again, if its bytes are intact",
               "main six-1.16.0-py2.py3-none-any.whl --reason 'looked through it' -c registry.toml"),
        change(Verb::pin, "Protect a file from deletion, also by retention rules",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml"),
        change(Verb::unpin, "End the protection of a pinned file",
               "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml"),
        change(Verb::promote,
               "Show files in another index, too, for example from staging; all of them at once, and no "
               "bytes are copied",
               "staging torch-2.4.0-cp312-cp312-linux_aarch64.whl "
               "torchvision-0.19.0-cp312-cp312-linux_aarch64.whl --to main -c registry.toml"),
        change(Verb::set_status,
               "Set a project's status (PEP 792): active, deprecated, archived (no uploads), quarantined (no "
               "uploads and no files listed)",
               "main six archived --reason 'see seven' -c registry.toml"),
        change(Verb::retain,
               "Delete all but the newest versions of each series (2.4.0 and 2.4.1 are of series 2.4), never "
               "pinned files",
               "nightly --keep 3 --dry-run -c registry.toml"),
        change(Verb::collect, "Remove stored bytes that no file refers to any more",
               "--grace 7d --dry-run -c registry.toml"),
        {"", "import",
         "Import wheels from another index or a folder, with the rules of an upload; of a folder source "
         "distributions, too, where the index takes them",
         "bede-gh200 torch-2.6.0-cp312-cp312-manylinux_2_28_aarch64.whl -c registry.toml",
         setup(registry::add_import_options, registry::run_import),
         "The hash is the one behind the name, or that of the index's page (over https). Works beside a "
         "running server.\n"
         "Exit status: 0 all are there, 1 some failed (each is named; the others are there), 2 wrong "
         "usage.\n"},
        {"", "prefetch",
         "Fetch what requirements need from the upstreams and keep it, for nodes without internet access",
         "base -r requirements.txt --python 3.12 --platform manylinux_2_28_aarch64 -c registry.toml",
         setup(registry::add_prefetch_options, registry::run_prefetch),
         "uv resolves the requirements, for each Python and platform, against the index of the running "
         "server. A pylock.toml needs no uv. With --wants the sites' reports name the Pythons and, without "
         "--platform, the platforms of their nodes.\n"
         "Exit status: 0 the server has all files, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "explain", "Explain which index or upstream supplies a project, and why",
         "main requests -c registry.toml", setup(registry::add_explain_options, registry::run_explain),
         "Asks no upstream: it shows what the server knows.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "release-project", "Let other upstreams supply a project that this one supplied",
         "base.public requests --reason 'the project moved' -c registry.toml",
         setup(registry::add_release_project_options, registry::run_release_project),
         "The upstream that supplied a project keeps it, even after it has removed it. After this the "
         "upstreams are asked in "
         "order again. Works beside a running server.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "files", "List the files of an index: size, state, uploader, why in quarantine",
         "main --quarantined -c registry.toml", setup(registry::add_files_options, registry::run_files),
         of_files},
        {"", "storage", "Show what an index keeps: size, quota, largest projects", "main -c registry.toml",
         setup(registry::add_storage_options, registry::run_storage), of_files},
        {"", "provenance", "What made a wheel: source, script, tools, site and attempt",
         "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml",
         setup(registry::add_provenance_options, registry::run_provenance),
         "It is the statement of the agent that uploaded the wheel; the registry has not verified it, but "
         "signs\n"
         "which token said it (`attest verify`).\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "sbom", "Print a software bill of materials of a stored wheel (CycloneDX 1.6)",
         "main torch-2.4.0-cp312-cp312-linux_aarch64.whl -c registry.toml",
         setup(registry::add_sbom_options, registry::run_sbom),
         "It has what the wheel's own SBOMs state, the libraries inside that its bytes prove, and, of a "
         "wheel of an\n"
         "agent, the source and the wheels that it was built with. Static libraries are only in what an SBOM "
         "states.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "contains", "Which wheels contain a component, as their SBOMs state",
         "zlib 1.2.11 -c registry.toml", setup(registry::add_contains_options, registry::run_contains),
         "An SBOM is a statement of the wheel's author (PEP 770); a wheel without one is not found. If "
         "a\n"
         "wheel has very many components, only the first are kept: `not known` unless one of these is "
         "meant.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"", "audit-osv", "Which published files a known vulnerability hits, through which component",
         "osv -c registry.toml", setup(registry::add_audit_osv_options, registry::run_audit_osv),
         "The records are an operator's: an unpacked export of OSV, such as that of PyPI. Compared are the "
         "files\n"
         "themselves and what their SBOMs state (see `contains`), for PyPI, crates.io, npm, Go, AlmaLinux "
         "and Rocky\n"
         "Linux; what else an SBOM states is counted as not judged.\n"
         "Exit status: 0 no file is hit, 1 failure (see standard error), 2 wrong usage, 3 a file is hit.\n"},
        {"attest", "init", "Make the root key, the key that signs statements, and the first root document",
         "keys --root-key /media/usb/root.key",
         setup(registry::add_attest_init_options, registry::run_attest_init)},
        {"attest", "rotate", "Write the next root document: a new key for statements, a later expiry",
         "keys/root.json --root-key /media/usb/root.key --new-key keys/provenance-2.key",
         setup(registry::add_attest_rotate_options, registry::run_attest_rotate)},
        {"attest", "revoke", "Write the next root document: a key counts no more, from a time on",
         "keys/root.json --root-key /media/usb/root.key --key-id 9f86d081… --from always",
         setup(registry::add_attest_revoke_options, registry::run_attest_revoke)},
        {"attest", "new-history",
         "Write the next root document: a registry that was restored from a backup begins another history",
         "keys/root.json --root-key /media/usb/root.key",
         setup(registry::add_attest_history_options, registry::run_attest_history),
         "Its serials are lower than before, which without this is an attack to all who follow an index.\n"
         "Exit status: 0 success, 1 failure (see standard error), 2 wrong usage.\n"},
        {"attest", "verify-index",
         "Verify that a server or a folder has the pages of an index that the registry signed",
         "https://wheels.example.org/main --root root.json --seen main.seen",
         setup(registry::add_attest_index_options, registry::run_attest_index),
         "Exit status: 0 every page is the signed one, the state is valid and not older than what --seen "
         "remembers;\n"
         "1 it is not (see standard error), 2 wrong usage.\n"},
        {"attest", "verify",
         "Verify what a registry signed about a wheel: who said what, and what was proved",
         "torch-2.4.0-cp312-cp312-linux_aarch64.whl --root root.json --index https://wheels.example.org/main "
         "--uploaded-to main",
         setup(registry::add_attest_verify_options, registry::run_attest_verify),
         "A warning (a wheel from quarantine, no --uploaded-to, an expired root) leaves the status 0.\n"
         "Exit status: 0 everything is right, 1 something is not (see standard error), 2 wrong usage.\n"},
        {"", "audit", "Who changed what, when and why", "-c registry.toml --project six",
         setup(registry::add_audit_options, registry::run_audit), repeatable},
        {"", "verify",
         "Read every stored blob from the disk, compare store and catalog, isolate damaged blobs; a stopped "
         "run continues where it was",
         "-c registry.toml --rate-mib 50", setup(registry::add_verify_options, registry::run_verify),
         of_maintenance},
        {"", "backup",
         "Save catalog and blobs, also while a server runs; in an earlier backup's folder only new blobs are "
         "copied. The configuration file and the task queue are not included",
         "-c registry.toml /backup/wheelyard", setup(registry::add_backup_options, registry::run_backup),
         of_maintenance},
        {"", "restore", "Make a data folder of a backup", "/backup/wheelyard /srv/wheelyard/data",
         setup(registry::add_restore_options, registry::run_restore), of_maintenance},
        {"store", "migrate",
         "Copy all wheels to another store, such as a bucket, also while a server runs; run it again after "
         "the server has stopped, then change the configuration",
         "-c registry.toml --to registry-s3.toml",
         setup(registry::add_migrate_options, registry::run_migrate), of_maintenance},
        {"task", "add", "Request wheels; returns the existing task if there is one",
         "bede-gh200 torch 2.4.0 --python 3.11 --python 3.12 -c registry.toml",
         setup(registry::add_task_add_options, registry::run_task_add), of_tasks},
        {"task", "list", "List tasks in the order of their requests",
         "bede-gh200 --state queued -c registry.toml",
         setup(registry::add_task_list_options, registry::run_task_list), of_tasks},
        {"task", "show", "Show a task", "t5f0c9a31d2be --json -c registry.toml",
         setup(registry::add_task_show_options, registry::run_task_show), of_tasks},
        {"task", "log", "Print the log of the latest attempt", "t5f0c9a31d2be -c registry.toml",
         setup(registry::add_task_log_options, registry::run_task_log), of_tasks},
        {"task", "approve", "Let a site build an uploaded source distribution",
         "t5f0c9a31d2be -c registry.toml",
         setup(registry::add_task_approve_options, registry::run_task_approve), of_tasks},
        {"task", "reject", "Reject a task that awaits an approval",
         "t5f0c9a31d2be --reason 'not ours' -c registry.toml",
         setup(registry::add_task_end_options, registry::run_task_reject), of_tasks},
        {"task", "cancel", "Cancel a task; its agent notices at its next tick",
         "t5f0c9a31d2be --reason 'wrong version' -c registry.toml",
         setup(registry::add_task_end_options, registry::run_task_cancel), of_tasks},
    };
}

int run(int argc, char** argv) {
    CLI::App app("wheelyard-registry receives, checks, stores and serves Python wheels.");
    app.name("wheelyard-registry");
    app.set_version_flag("-V,--version", base::version_text("wheelyard-registry", WHEELYARD_LIBRARIES));
    app.require_subcommand(1);
    app.footer(
        "\nExample:\n  wheelyard-registry init farm && wheelyard-registry serve --config "
        "farm/registry.toml\n");
    const registry::Heading headings[] = {
        {"Commands of the server", {"serve", "init", "token", "agent", "notify"}},
        {"Commands for indexes", {"index", "apply", "files", "storage", "status", "retain"}},
        {"Commands to add wheels", {"check", "import", "prefetch", "promote", "task"}},
        {"Commands to withdraw and protect files",
         {"yank", "unyank", "delete", "quarantine", "release", "pin", "unpin"}},
        {"Commands that say why",
         {"explain", "provenance", "sbom", "contains", "audit-osv", "attest", "audit", "dump",
          "release-project"}},
        {"Commands to look after the store", {"verify", "gc", "backup", "restore", "store"}},
    };
    const auto added = registry::add_commands(app, groups, commands(), headings);
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
