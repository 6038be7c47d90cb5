#include "registry/config/config_place.hpp"

#include <system_error>

namespace wheelyard::registry {

std::filesystem::path find_config_file(const std::map<std::string, std::string>& environment,
                                       const std::filesystem::path& directory,
                                       const std::filesystem::path& system) {
    const auto variable = environment.find("WHEELYARD_REGISTRY_CONFIG");
    if (variable != environment.end() && !variable->second.empty()) return variable->second;
    std::error_code error;
    for (const auto& folder : {directory, system}) {
        if (std::filesystem::is_regular_file(folder / "registry.toml", error))
            return (folder / "registry.toml").lexically_normal();
    }
    return error == std::errc::permission_denied ? system / "registry.toml" : std::filesystem::path();
}

bool is_system_folder(const std::filesystem::path& folder) {
    return (folder.lexically_normal().string() + "/").starts_with("/etc/");
}

}  // namespace wheelyard::registry
