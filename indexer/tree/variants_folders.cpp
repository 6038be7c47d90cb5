#include "indexer/tree/variants_folders.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "indexer/tree/page_files.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

base::Status place_variants(Disk& disk, const std::string& folder,
                            std::span<const catalog::VariantsFile> files) {
    for (const catalog::VariantsFile& file : files) {
        const std::string place = folder + "/" + file.sha256;
        WHEELYARD_ASSIGN(const bool is_new, disk.make_directories(place));
        if (!is_new) WHEELYARD_TRY(disk.remove_leftovers(place));
        WHEELYARD_ASSIGN(const bool is_right, has_bytes(disk, place + "/" + file.filename, file.bytes));
        // A killed run may have renamed the file without syncing its folder.
        if (is_right)
            WHEELYARD_TRY(disk.sync_directory(place));
        else
            WHEELYARD_TRY(disk.replace_together(place, {{file.filename, file.bytes}}));
    }
    return {};
}

base::Status remove_old_variants(Disk& disk, const std::string& folder,
                                 std::span<const catalog::VariantsFile> files) {
    std::set<std::string_view> current;
    std::set<std::string_view> names;
    for (const catalog::VariantsFile& file : files) {
        current.insert(file.sha256);
        names.insert(file.filename);
    }
    std::map<std::string, std::vector<std::pair<fs::file_time_type, fs::path>>>
        earlier;  // by name of the file
    std::vector<fs::path> gone;
    WHEELYARD_ASSIGN(const auto folders, folders_below(folder));
    for (const std::string& name : folders) {
        if (!base::is_sha256_hex(name) || current.contains(name)) continue;
        const fs::path place = fs::path(folder) / name;
        std::error_code error;
        fs::path file;
        for (fs::directory_iterator entry(place, error), end; !error && entry != end; entry.increment(error))
            if (names.contains(entry->path().filename().native())) file = entry->path();
        if (file.empty())
            gone.push_back(place);
        else
            earlier[file.filename().native()].emplace_back(fs::last_write_time(file, error), place);
    }
    for (auto& [name, states] : earlier) {
        std::sort(states.rbegin(), states.rend());
        for (std::size_t at = max_earlier_variants; at < states.size(); ++at)
            gone.push_back(std::move(states[at].second));
    }
    for (const fs::path& place : gone)
        WHEELYARD_TRY(remove_folder(disk, place, [] { return base::Status{}; }));
    return gone.empty() ? base::Status{} : disk.sync_directory(folder);
}

}  // namespace wheelyard::indexer
