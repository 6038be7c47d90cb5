#include "indexer/tree/status_file.hpp"

#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"

namespace wheelyard::indexer {

base::Result<bool> write_status_file(Disk& disk, const std::filesystem::path& tree, const std::string& index,
                                     std::string_view document) {
    const std::filesystem::path file = status_file(tree, index);
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file.native()));
    if (size == document.size()) {
        const auto old = disk.read(file, document.size());
        if (old && *old == document) return false;
    }
    WHEELYARD_TRY(disk.make_directories(state_folder(tree).native()));
    // Not synced: the next report replaces it.
    WHEELYARD_TRY(replace_text_via(disk, draft_file(tree, index, status_draft), file, document));
    return true;
}

}  // namespace wheelyard::indexer
