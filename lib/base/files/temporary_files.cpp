#include "lib/base/files/temporary_files.hpp"

#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "lib/base/files/file.hpp"

namespace wheelyard::base {
namespace {

namespace fs = std::filesystem;

template <typename Iterator>
Status remove_in(const fs::path& folder, std::string_view start, std::string_view kept = {},
                 std::chrono::seconds age = {}) {
    std::error_code error, ignored;
    const auto written_before =
        age.count() == 0 ? fs::file_time_type::max() : fs::file_time_type::clock::now() - age;
    std::vector<fs::path> found;
    for (Iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        const std::string name = entry->path().filename().native();
        if (!kept.empty() && name.starts_with(kept)) continue;
        if (name.starts_with(start) && name.find(".tmp.") != std::string::npos &&
            entry->last_write_time(ignored) <= written_before)
            found.push_back(entry->path());
    }
    if (error) return fail_errno("readdir", folder.string(), error.value());
    for (const auto& leftover : found)
        WHEELYARD_TRY(remove_file(leftover));
    return {};
}

}  // namespace

Status remove_temporary_files(const fs::path& path, std::chrono::seconds age) {
    return remove_in<fs::directory_iterator>(path.parent_path(), "." + path.filename().native() + ".tmp.", {},
                                             age);
}

Status remove_temporary_files_in(const fs::path& folder, std::string_view kept) {
    return remove_in<fs::directory_iterator>(folder, ".", kept);
}

Status remove_temporary_files_below(const fs::path& folder) {
    return remove_in<fs::recursive_directory_iterator>(folder, ".");
}

}  // namespace wheelyard::base
