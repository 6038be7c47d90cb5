// A file that cannot be removed is not an error: it only uses space.
#include "builder/attempt/temporary_files.hpp"

#include <functional>
#include <string>
#include <vector>

#include "lib/base/files/remove_tree.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

base::Status remove_where(const fs::path& folder, const std::function<bool(const std::string&)>& is_leftover,
                          const base::KeepAlive& keep_alive) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (is_leftover(entry.path().filename().string())) found.push_back(entry.path());
    }
    for (const auto& path : found)
        WHEELYARD_TRY(free_space(path, keep_alive));
    return {};
}

}  // namespace

void sweep_temporary_files(const fs::path& folder) {
    const auto is_temporary = [](const std::string& name) {
        return name.starts_with(".") && name.find(".tmp") != std::string::npos;
    };
    static_cast<void>(remove_where(folder, is_temporary, {}));
}

base::Status sweep_temp_dirs(const fs::path& folder, const std::string& prefix,
                             const base::KeepAlive& keep_alive) {
    return remove_where(
        folder, [&](const std::string& name) { return name.starts_with(prefix + "-"); }, keep_alive);
}

base::Status free_space(const fs::path& path, const base::KeepAlive& keep_alive) {
    auto removed = base::remove_tree(path, keep_alive);
    if (!removed && removed.error().os_error != 0) return {};
    return removed;
}

}  // namespace wheelyard::builder
