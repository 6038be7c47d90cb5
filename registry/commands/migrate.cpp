// `store migrate`: copies the blobs of a registry to another store, beside a running server, and the catalog
// to another database once none runs. `store adopt`: makes a store this registry's.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/progress_pace.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/lifecycle/migrate.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "lib/store/store.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

struct MigrateArguments {
    std::filesystem::path config;
    std::filesystem::path to;  // a configuration whose [stores] names the other store
    bool json = false;
    bool quiet = false;
};

// What became of the catalog: it stays where it is, it is in the other database, or a server still changes
// it.
enum class CatalogMove { none, copied, waits };
constexpr std::array catalog_words{"none", "copied", "waits"};

void print_report(const MigrateArguments& arguments, const lifecycle::MigrationReport& report,
                  const std::string& to, CatalogMove catalog) {
    if (arguments.json) {
        base::print(stdout, "%s\n",
                    Json::object({{"format", "wheelyard.migration-report/1"},
                                  {"catalog", catalog_words[static_cast<std::size_t>(catalog)]},
                                  {"blobs", report.blobs},
                                  {"bytes", report.bytes},
                                  {"copied_blobs", report.copied_blobs},
                                  {"copied_bytes", report.copied_bytes},
                                  {"damaged", Json::array_of(report.damaged)}})
                        .render()
                        .c_str());
        return;
    }
    if (!to.empty())
        base::print(stdout, "%llu blobs (%s) are in %s, of them %llu now (%s)\n",
                    static_cast<unsigned long long>(report.blobs), base::render_bytes(report.bytes).c_str(),
                    to.c_str(), static_cast<unsigned long long>(report.copied_blobs),
                    base::render_bytes(report.copied_bytes).c_str());
    if (catalog == CatalogMove::copied)
        base::print(stdout, "the catalog is in the other database; start the server with %s\n",
                    arguments.to.c_str());
    if (catalog == CatalogMove::waits)
        base::print(stdout, "the catalog is not copied while a server runs: stop it, and run this again\n");
    for (const std::string& sha256 : report.damaged)
        base::print(stdout, "damaged or missing: %s\n", sha256.c_str());
}

void add_migrate_options(CLI::App& command, MigrateArguments& arguments) {
    add_config_option(command, arguments.config);
    command
        .add_option(
            "--to", arguments.to,
            "A configuration whose [stores] names the other store, the other database, or both; without "
            "`blobs` and `database` they are the data folder")
        ->required()
        ->check(base::fault_of_file, "FILE");
    command.add_flag("-q,--quiet", arguments.quiet, "No progress on standard error");
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

lifecycle::LifecycleParts parts_of(catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                   const RegistryConfig& config, const base::Clock& clock) {
    return {.on_catalog = [&catalog](const lifecycle::CatalogWork& work) { return work(catalog); },
            .blobs = blobs,
            .clock = clock,
            .store = config.blob_place().text(),
            .config = config.file};
}

base::Result<lifecycle::MigrationReport> copy_blobs(const MigrateArguments& arguments,
                                                    const RegistryConfig& config, const RegistryConfig& other,
                                                    const base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto from, blobs::read_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(const auto to, blobs::open_blob_store(other.blob_place()));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).writer());
    WHEELYARD_TRY(lifecycle::check_store(parts_of(*catalog, *from, config, clock)));
    WHEELYARD_TRY(
        lifecycle::claim_store(parts_of(*catalog, *to, other, clock), lifecycle::EmptyStore::is_new));
    const auto progress = [&, pace = base::ProgressPace(clock)](
                              const lifecycle::MigrationReport& so_far) mutable {
        if (arguments.quiet || !pace.is_due()) return;
        base::print(stderr, "migrate: %llu blobs, %s; %s copied\n",
                    static_cast<unsigned long long>(so_far.blobs), base::render_bytes(so_far.bytes).c_str(),
                    base::render_bytes(so_far.copied_bytes).c_str());
    };
    return lifecycle::migrate(*catalog, *from, *to, progress);
}

// A new data folder below one of root's is for the server that has used the store.
base::Status make_data_folder(const RegistryConfig& config, const std::filesystem::path& folder) {
    const auto owner = base::other_owner_of(config.store);
    std::error_code ignored;
    if (!owner || base::other_owner_of(folder) || std::filesystem::exists(folder, ignored)) return {};
    return base::acting_as(base::FileUser::caller, [&]() -> base::Status {
        WHEELYARD_TRY(base::make_directories(folder));
        if (::chown(folder.c_str(), owner->user, owner->group) == 0) return {};
        return base::fail_errno("chown", folder.string(), errno);
    });
}

// Also fails if some blobs are missing or damaged, so that nobody switches to the other store then.
base::Status run_migrate(const MigrateArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig other, read_config(arguments.to));
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_TRY(make_data_folder(config, other.store));
    base::become_owner_of(other.store);
    const blobs::Place place = other.blob_place();
    const database::Store database(config.database()), other_database(other.database());
    const bool moves_blobs = config.blob_place().text() != place.text();
    const bool moves_catalog = !database.is_same_as(other_database);
    if (!moves_blobs && !moves_catalog)
        return base::fail("migrate.same_store", "Both configurations name the same stores", place.text(),
                          "change `blobs` or `database` in [stores] of the file that --to names");
    lifecycle::MigrationReport report;
    if (moves_blobs) {
        WHEELYARD_ASSIGN(report, copy_blobs(arguments, config, other, clock));
    }
    CatalogMove catalog = moves_catalog ? CatalogMove::waits : CatalogMove::none;
    if (moves_catalog && report.damaged.empty()) {
        const auto alone = lock_store(config.store);
        if (!alone && alone.error().kind != base::ErrorKind::busy) return base::fail(alone.error());
        WHEELYARD_ASSIGN(const auto board, database.node_board());
        WHEELYARD_ASSIGN(const auto nodes, board->nodes());
        if (alone && nodes.empty()) {
            WHEELYARD_TRY(other_database.take_all_of(database));
            catalog = CatalogMove::copied;
        }
    }
    print_report(arguments, report, moves_blobs ? place.text() : std::string(), catalog);
    if (report.damaged.empty()) return {};
    return base::fail("migrate.damaged", "Some blobs are missing or damaged and were left out",
                      std::to_string(report.damaged.size()),
                      "run `wheelyard-registry verify`, and migrate again");
}

// "registry 5f2a… at serial 17"
std::string identity_text(const lifecycle::StoreIdentity& identity) {
    return "registry " + identity.registry + " at serial " + std::to_string(identity.event.serial);
}

base::Status run_adopt(const std::filesystem::path& file, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(file));
    WHEELYARD_TRY(database::Store(config.database()).find_catalog());
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).writer());
    WHEELYARD_ASSIGN(const auto blobs, blobs::open_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(const lifecycle::Adopted adopted,
                     lifecycle::adopt_store(parts_of(*catalog, *blobs, config, clock)));
    base::print(stdout, "%s was of %s; it is now of %s\n", config.blob_place().text().c_str(),
                adopted.before ? identity_text(*adopted.before).c_str() : "no registry that said so",
                identity_text(adopted.now).c_str());
    base::print(stdout, "gc removes from it what this catalog does not know\n");
    return {};
}

}  // namespace

std::vector<Command> migrate_commands() {
    return {
        {"store", "migrate",
         "Copy all wheels to another store, such as a bucket, also while a server runs, and the catalog to "
         "another database once it has stopped; then change the configuration",
         "-c registry.toml --to registry-s3.toml", setup(add_migrate_options, run_migrate), of_maintenance},
        {"store", "adopt",
         "Make the store of the wheels this catalog's, although another registry or another copy of the "
         "catalog has used it: they are refused from then on",
         "-c registry.toml", setup(add_config_option, run_adopt), of_maintenance},
    };
}

}  // namespace wheelyard::registry
