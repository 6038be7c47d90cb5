// Where the configuration file is when no option names it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace wheelyard::registry {

// The first of $WHEELYARD_REGISTRY_CONFIG, ./registry.toml and /etc/wheelyard/registry.toml that exists; a
// variable that is set decides even if its file is missing, the last place also if this user may not look
// there. Empty: none.
[[nodiscard]] std::filesystem::path find_config_file(const std::map<std::string, std::string>& environment,
                                                     const std::filesystem::path& directory = ".",
                                                     const std::filesystem::path& system = "/etc/wheelyard");

// Says whether `folder`, an absolute path, has the machine's own configuration: under /etc. Its store is in
// /var/lib/wheelyard (FHS 3.0, 5.8), and it has the index `tools` of the agents that the unit imports.
[[nodiscard]] bool is_system_folder(const std::filesystem::path& folder);

inline constexpr const char* config_help =
    "The configuration file (default: $WHEELYARD_REGISTRY_CONFIG, ./registry.toml, "
    "/etc/wheelyard/registry.toml)";

// What a command reports that finds none.
inline constexpr const char* no_config =
    "no configuration: neither -c FILE nor $WHEELYARD_REGISTRY_CONFIG names one, and neither ./registry.toml "
    "nor "
    "/etc/wheelyard/registry.toml exists. `wheelyard-registry init FOLDER` writes one";

}  // namespace wheelyard::registry
