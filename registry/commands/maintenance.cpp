// Maintenance commands for the whole store: verify, backup, restore. Each may run beside a server.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/progress_pace.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/store/lifecycle/backup.hpp"
#include "lib/store/lifecycle/verify.hpp"
#include "lib/store/store.hpp"
#include "registry/commands/command_line.hpp"
#include "registry/commands/commands.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/lock.hpp"
#include "registry/store/opened_store.hpp"
#include "registry/upstream/saved_suppliers.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

struct MaintenanceArguments {
    std::filesystem::path config;
    std::filesystem::path folder;  // of the backup
    database::Place store;         // restore: the data folder to make
    std::int64_t rate_mib = 0;
    bool restart = false;
    bool link = false;
    bool json = false;
    bool quiet = false;
};

void add_quiet(CLI::App& command, MaintenanceArguments& arguments) {
    command.add_flag("-q,--quiet", arguments.quiet, "No progress on standard error");
}

Json report_json(const lifecycle::VerifyReport& report) {
    Json faults = Json::array();
    for (const auto& fault : report.faults) {
        Json files = Json::array();
        for (const auto& file : fault.files)
            files.push(Json::object({{"index", file.index}, {"filename", file.filename}}));
        faults.push(
            Json::object({{"code", fault.code}, {"subject", fault.subject}, {"files", std::move(files)}}));
    }
    return Json::object({{"format", "wheelyard.verify-report/1"},
                         {"resumed", report.resumed},
                         {"blobs", report.blobs},
                         {"bytes", report.bytes},
                         {"orphans", report.orphans},
                         {"faults", std::move(faults)}});
}

void print_faults(const lifecycle::VerifyReport& report) {
    for (const auto& fault : report.faults) {
        std::string line = fault.code + "  " + fault.subject;
        for (const auto& file : fault.files)
            line.append("  ").append(file.index).append("/").append(file.filename);
        base::print(stdout, "%s\n", line.c_str());
    }
    base::print(stdout, "%llu blobs, %s read%s; %llu orphans; %zu faults\n",
                static_cast<unsigned long long>(report.blobs), base::render_bytes(report.bytes).c_str(),
                report.resumed ? " (with an earlier run's)" : "",
                static_cast<unsigned long long>(report.orphans), report.faults.size());
}

base::Status print_backup(const MaintenanceArguments& arguments, const lifecycle::BackupReport& report,
                          const char* what, const std::vector<std::string>& left_out) {
    if (arguments.json) {
        base::print(stdout, "%s\n",
                    Json::object({{"format", "wheelyard.backup-report/1"},
                                  {"serial", report.serial},
                                  {"blobs", report.blobs},
                                  {"copied_blobs", report.copied_blobs},
                                  {"copied_bytes", report.copied_bytes},
                                  {"damaged", Json::array_of(report.damaged)},
                                  {"left_out", Json::array_of(left_out)}})
                        .render()
                        .c_str());
    } else {
        base::print(stdout, "%s serial %lld: %llu blobs, of them %llu now (%s)\n", what,
                    static_cast<long long>(report.serial), static_cast<unsigned long long>(report.blobs),
                    static_cast<unsigned long long>(report.copied_blobs),
                    base::render_bytes(report.copied_bytes).c_str());
        for (const std::string& sha256 : report.damaged)
            base::print(stdout, "damaged or missing: %s\n", sha256.c_str());
    }
    if (report.damaged.empty()) return {};
    return base::fail("backup.damaged",
                      "Some blobs are missing or damaged; everything else is " + std::string(what),
                      std::to_string(report.damaged.size()),
                      "`wheelyard-registry verify` names the files that need them: upload these again");
}

void print_left_out(const std::vector<std::string>& left_out) {
    if (left_out.empty()) return;
    base::print(
        stdout,
        "left out: the task queue (%s), which is out of date at once; `task list --state queued --json` "
        "and `--state claimed` show what to ask for again\n",
        left_out.front().c_str());
}

void add_verify_options(CLI::App& command, MaintenanceArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("--rate-mib", arguments.rate_mib, "Maximum read rate in MiB/s (default: unlimited)")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    command.add_flag("--restart", arguments.restart,
                     "Start from the beginning instead of continuing an earlier run");
    add_quiet(command, arguments);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

void add_backup_options(CLI::App& command, MaintenanceArguments& arguments) {
    add_config_option(command, arguments.config);
    command.add_option("folder", arguments.folder, "Target folder")->required();
    command.add_flag(
        "--link", arguments.link,
        "Hard links instead of copies: needs no space, but does not protect against a disk failure");
    add_quiet(command, arguments);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

void add_restore_options(CLI::App& command, MaintenanceArguments& arguments) {
    command.add_option("folder", arguments.folder, "The backup")
        ->required()
        ->check(base::fault_of_folder, "DIR");
    command
        .add_option("store", arguments.store.folder,
                    "The data folder to create: [store] directory of a configuration")
        ->required();
    command
        .add_option("--database", arguments.store.url,
                    "Restore the catalog into this empty PostgreSQL database: [stores] database of the "
                    "configuration")
        ->check(CLI::Validator([](std::string& url) { return database::fault_of_url(url); }, ""));
    command
        .add_option("--database-password-file", arguments.store.password_file,
                    "A file whose first line is the database's password")
        ->check(base::fault_of_file, "FILE");
    add_quiet(command, arguments);
    command.add_flag("--json", arguments.json, "One JSON document on standard output");
}

base::Result<lifecycle::VerifyReport> verify_once(const MaintenanceArguments& arguments,
                                                  const RegistryConfig& config,
                                                  const OpenPublisher& open_publisher, base::Clock& clock) {
    WHEELYARD_ASSIGN(const auto store, open_store(config, open_publisher));
    const lifecycle::LifecycleParts place = store->place(clock);
    base::ProgressPace pace(clock);
    const lifecycle::VerifyHooks hooks{
        .show = [&store](const std::vector<catalog::FileName>& files) { return store->show(files); },
        .progress =
            [&](const lifecycle::VerifyProgress& progress) {
                if (arguments.quiet || !pace.is_due()) return;
                base::print(stderr, "verify: %.0f %%, %llu blobs, %s\n", progress.fraction * 100,
                            static_cast<unsigned long long>(progress.blobs),
                            base::render_bytes(progress.bytes).c_str());
            }};
    const lifecycle::VerifySettings settings{
        .state_file = store->config.store / "verify.json",
        .bytes_per_second = static_cast<std::uint64_t>(arguments.rate_mib) * base::mib,
        .restart = arguments.restart,
        .trees = {store->config.published(), store->config.published_private()}};
    return lifecycle::verify(place, clock, settings, hooks);
}

// It also fails if it finds problems, so that cron sees the exit status.
base::Status run_verify(const MaintenanceArguments& arguments, const OpenPublisher& open_publisher,
                        base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const lifecycle::VerifyReport report, blobs::with_reserve(config.room(), [&] {
                         return verify_once(arguments, config, open_publisher, clock);
                     }));
    if (arguments.json) {
        base::print(stdout, "%s\n", report_json(report).render().c_str());
    } else {
        print_faults(report);
    }
    if (report.faults.empty()) return {};
    return base::fail(
        "verify.faults", "The store has damaged or missing data", std::to_string(report.faults.size()),
        "the files of `damaged` and `missing` blobs are quarantined: upload the same files again, or "
        "copy the blobs from a backup and repeat this; either releases them");
}

lifecycle::BackupProgress show_progress(const MaintenanceArguments& arguments, const char* command,
                                        const base::Clock& clock) {
    return [&arguments, command,
            pace = base::ProgressPace(clock)](const lifecycle::BackupReport& so_far) mutable {
        if (arguments.quiet || !pace.is_due()) return;
        base::print(stderr, "%s: %llu blobs, %s copied\n", command,
                    static_cast<unsigned long long>(so_far.blobs),
                    base::render_bytes(so_far.copied_bytes).c_str());
    };
}

base::Status run_backup(const MaintenanceArguments& arguments, const base::Clock& clock) {
    WHEELYARD_ASSIGN(const RegistryConfig config, read_config_in_force(arguments.config));
    WHEELYARD_ASSIGN(const auto blobs, blobs::read_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(
        const lifecycle::BackupReport report,
        lifecycle::back_up(config.database(), *blobs, arguments.folder,
                           arguments.link ? lifecycle::BlobTransfer::link : lifecycle::BlobTransfer::copy,
                           clock, show_progress(arguments, "backup", clock),
                           [&] { return save_suppliers(config.store / "upstream", arguments.folder); }));
    if (const auto noted = lifecycle::note_backup(config.store, clock.now()); !noted)
        base::print(stderr, "backup: the metrics will not show it: %s\n", noted.error().text().c_str());
    // A restored queue would request wheels that were built since, and give sites tasks that others have.
    const std::vector<std::string> left_out = database::Store(config.database()).left_out_of_backups();
    if (!arguments.json) print_left_out(left_out);
    return print_backup(arguments, report, "saved", left_out);
}

base::Status run_restore(const MaintenanceArguments& arguments, const base::Clock& clock) {
    base::become_owner_of(arguments.store.folder);
    WHEELYARD_ASSIGN(const lifecycle::BackupReport report,
                     lifecycle::restore(
                         arguments.folder, arguments.store, show_progress(arguments, "restore", clock), [&] {
                             return restore_suppliers(arguments.folder, arguments.store.folder / "upstream");
                         }));
    WHEELYARD_TRY(print_backup(arguments, report, "restored", {}));
    if (!arguments.json) base::print(stdout, note_of_root(arguments.store.folder));
    return {};
}

}  // namespace

std::vector<Command> maintenance_commands() {
    return {
        {heading::store, "verify",
         "Read every stored blob from the disk, compare store and catalog, quarantine the files of damaged "
         "blobs; a stopped run continues where it was",
         "-c registry.toml --rate-mib 50", setup(add_verify_options, run_verify), of_maintenance},
        {heading::store, "backup",
         "Save catalog and blobs, also while a server runs; in an earlier backup's folder only new blobs are "
         "copied. The configuration file and the task queue are not included",
         "-c registry.toml /backup/wheelyard", setup(add_backup_options, run_backup), of_maintenance},
        {heading::store, "restore", "Make a data folder of a backup", "/backup/wheelyard /srv/wheelyard/data",
         setup(add_restore_options, run_restore), of_maintenance},
    };
}

}  // namespace wheelyard::registry
