// What the server tells systemd, and what its unit (docs/reference/wheelyard-registry.service) lets it do.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/serve/upkeep/background_task.hpp"

namespace wheelyard::registry {

// Sends "READY=1", "STOPPING=1" … to $NOTIFY_SOCKET (sd_notify(3)); does nothing without one.
void notify_systemd(std::string_view state);

// What this process has done since its start, by which a start that is slow differs from one that hangs.
struct Work {
    std::int64_t cpu_ms = 0;
    std::int64_t blocks = 0;  // read from disks and written to them
    [[nodiscard]] static Work so_far();
    [[nodiscard]] bool is_beyond(const Work& before) const;
};

// While it exists, systemd waits for READY=1 beyond TimeoutStartSec: five minutes, in which this process may
// wait for others, and then as long as it works.
class LongStart {
  public:
    explicit LongStart(std::int64_t pause_ms = 10'000);

  private:
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::optional<Work> before_ = {};
    BackgroundTask extending_;
};

// What `systemctl show` says about the unit whose ExecStart names a configuration.
struct ServiceUnit {
    std::string user;
    bool has_low_ports = false;                    // CAP_NET_BIND_SERVICE
    std::vector<std::filesystem::path> made = {};  // StateDirectory=, which a start makes
    std::vector<std::filesystem::path> writable =
        {};  // ReadWritePaths= and `made`; without ProtectSystem=strict "/"
};
// Says whether `folder` is one of the folders, or in one.
[[nodiscard]] bool is_below(const std::filesystem::path& folder,
                            const std::vector<std::filesystem::path>& folders);
// nullopt: there is no such unit, or it names another configuration.
[[nodiscard]] std::optional<ServiceUnit> parse_service_unit(std::string_view shown,
                                                            const std::filesystem::path& config);
// Asks systemctl; for root alone, whose check is about what another user's server can do.
[[nodiscard]] std::optional<ServiceUnit> find_service_unit(const std::filesystem::path& config);

}  // namespace wheelyard::registry
