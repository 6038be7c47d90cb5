// A file that cannot be removed is not an error: it only uses space.
#include "builder/attempt/temporary_files.hpp"

#include <string>
#include <vector>

#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::builder {
namespace fs = std::filesystem;

void sweep_temporary_files(const fs::path& folder) {
    static_cast<void>(base::remove_temporary_files_in(folder));
}

base::Status sweep_temp_dirs(const fs::path& folder, const std::string& prefix,
                             const base::KeepAlive& keep_alive) {
    std::error_code error;
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().filename().string().starts_with(prefix + "-")) found.push_back(entry.path());
    }
    for (const auto& path : found)
        WHEELYARD_TRY(free_space(path, keep_alive));
    return {};
}

base::Status free_space(const fs::path& path, const base::KeepAlive& keep_alive) {
    auto removed = base::remove_tree(path, keep_alive);
    if (!removed && removed.error().os_error != 0) return {};
    return removed;
}

}  // namespace wheelyard::builder
