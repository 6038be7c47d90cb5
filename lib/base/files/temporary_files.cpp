#include "lib/base/files/temporary_files.hpp"

#include <string>
#include <system_error>
#include <vector>

#include "lib/base/files/file.hpp"

namespace wheelyard::base {

Status remove_temporary_files(const std::filesystem::path& path) {
    const std::filesystem::path folder = path.parent_path();
    const std::string start = "." + path.filename().native() + ".tmp.";
    std::error_code error;
    std::vector<std::filesystem::path> found;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().filename().native().starts_with(start)) found.push_back(entry->path());
    }
    if (error) return fail_errno("readdir", folder.string(), error.value());
    for (const auto& leftover : found)
        WHEELYARD_TRY(remove_file(leftover));
    return {};
}

}  // namespace wheelyard::base
