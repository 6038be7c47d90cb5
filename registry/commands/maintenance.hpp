// Maintenance commands for the whole store: verify, backup, restore. Each may run beside a server.
#pragma once

#include <cstdint>
#include <filesystem>

#include "lib/base/clock.hpp"
#include "registry/store/opened_store.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

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

void add_verify_options(CLI::App& command, MaintenanceArguments& arguments);
void add_backup_options(CLI::App& command, MaintenanceArguments& arguments);
void add_restore_options(CLI::App& command, MaintenanceArguments& arguments);

// Also fails if it finds problems, so that cron sees the exit status.
[[nodiscard]] base::Status run_verify(const MaintenanceArguments& arguments,
                                      const OpenPublisher& open_publisher, base::Clock& clock);
[[nodiscard]] base::Status run_backup(const MaintenanceArguments& arguments, const base::Clock& clock);
[[nodiscard]] base::Status run_restore(const MaintenanceArguments& arguments, const base::Clock& clock);

}  // namespace wheelyard::registry
