// Sweeping is housekeeping: what cannot be removed stays, and costs only space.
#include "builder/leftovers.hpp"

#include <functional>
#include <string>
#include <vector>

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

void remove_where(const fs::path& folder, const std::function<bool(const std::string&)>& is_leftover) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (is_leftover(entry.path().filename().string())) found.push_back(entry.path());
    }
    for (const auto& path : found)
        fs::remove_all(path, error);
}

}  // namespace

void sweep_asides(const fs::path& folder) {
    remove_where(folder, [](const std::string& name) {
        return name.starts_with(".") && name.find(".aside") != std::string::npos;
    });
}

void sweep_temp_dirs(const fs::path& folder, const std::string& prefix) {
    remove_where(folder, [&](const std::string& name) { return name.starts_with(prefix + "-"); });
}

}  // namespace wheelyard::builder
