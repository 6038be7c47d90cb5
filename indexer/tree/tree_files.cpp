// Wheels are placed before any page links to them and removed after the last page that does.
#include "indexer/tree/tree_files.hpp"

#include <array>

#include "indexer/tree/paths.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

base::Status keep_files_in_tree(Disk& disk, const fs::path& tree, std::vector<catalog::FileRow>& rows) {
    std::vector<catalog::FileRow> kept;
    kept.reserve(rows.size());
    for (catalog::FileRow& row : rows) {
        WHEELYARD_ASSIGN(const auto size, disk.size_of(file_text(tree, row)));
        if (size) kept.push_back(std::move(row));
    }
    rows = std::move(kept);
    return {};
}

base::Status TreeFiles::place(const catalog::FileRow& row, bool is_touched) {
    const std::string file = file_text(tree_, row);
    const std::string folder = file.substr(0, file.size() - row.filename.size() - 1);
    bool is_new = false;
    // In a new tree, one mkdir answers for all files: a new folder has none.
    const bool asks_folder_first = made_last_folder_;
    if (asks_folder_first) {
        WHEELYARD_ASSIGN(is_new, disk_.make_directories(folder));
    }
    bool has_file = false;
    if (!is_new) {
        WHEELYARD_ASSIGN(has_file, is_in_place(file, row.size_bytes));
        if (!has_file && !asks_folder_first) {
            WHEELYARD_ASSIGN(is_new, disk_.make_directories(folder));
        }
    }
    made_last_folder_ = is_new;
    struct Beside {
        std::string_view suffix;
        const std::string& sha256;  // empty: the file has none
        std::uint64_t size_bytes;
        bool is_there = false;
    };
    std::array besides{Beside{metadata_suffix, row.metadata_sha256, row.metadata_size_bytes},
                       Beside{provenance_suffix, row.provenance_sha256, row.provenance_size_bytes},
                       Beside{attestations_suffix, row.attestations_sha256, row.attestations_size_bytes}};
    bool has_all = has_file;
    for (Beside& beside : besides) {
        beside.is_there = beside.sha256.empty();
        if (!beside.is_there && !is_new) {
            WHEELYARD_ASSIGN(beside.is_there,
                             is_in_place(std::string(file).append(beside.suffix), beside.size_bytes));
        }
        has_all = has_all && beside.is_there;
    }
    if (!is_new && !has_all && cleaned_.insert(folder).second) WHEELYARD_TRY(disk_.remove_leftovers(folder));
    if (!has_file) {
        WHEELYARD_TRY(blobs_.serves_files() ? disk_.place_stand_in(file, row.size_bytes)
                                            : disk_.place_blob(blobs_, row.sha256, file, keep_alive_));
        ++linked_;
    }
    for (const Beside& beside : besides) {
        if (beside.is_there) continue;
        WHEELYARD_TRY(
            disk_.place_blob(blobs_, beside.sha256, std::string(file).append(beside.suffix), keep_alive_));
    }
    if (!has_all || is_touched) WHEELYARD_TRY(disk_.sync_directory(folder));
    return flat_ ? show(row) : base::Status{};
}

base::Status TreeFiles::show(const catalog::FileRow& row) {
    const fs::path folder = flat_folder(tree_, row.index);
    if (flat_made_.insert(row.index).second) WHEELYARD_TRY(disk_.make_directories(folder));
    WHEELYARD_ASSIGN(const bool changed,
                     disk_.symlink(folder / row.filename, flat_target(row.sha256, row.filename)));
    if (changed) flat_changed_.insert(row.index);
    return {};
}

// A killed run may have removed the files without syncing the folder, so the parent is synced in any case.
base::Status TreeFiles::retract(const std::string& index, const TreeFile& gone, bool keeps_name) {
    if (flat_ && !keeps_name) WHEELYARD_TRY(hide(index, gone));
    const fs::path folder = file_folder(tree_, index, gone.sha256);
    const fs::path file = folder / gone.filename;
    WHEELYARD_ASSIGN(bool has_any, exists(file));
    for (const std::string_view suffix : {metadata_suffix, provenance_suffix, attestations_suffix}) {
        const fs::path beside = folder / (gone.filename + std::string(suffix));
        WHEELYARD_ASSIGN(const bool has_beside, exists(beside));
        if (!has_beside) continue;
        has_any = true;
        WHEELYARD_TRY(disk_.remove(beside));
    }
    if (has_any) {
        WHEELYARD_TRY(disk_.remove(file));
        WHEELYARD_TRY(disk_.sync_directory(folder));
        ++removed_;
    }
    WHEELYARD_ASSIGN(const bool has_folder, exists(folder));
    if (has_folder) WHEELYARD_TRY(disk_.remove(folder));
    WHEELYARD_ASSIGN(const bool has_parent, exists(folder.parent_path()));
    return has_parent ? disk_.sync_directory(folder.parent_path()) : base::Status{};
}

base::Status TreeFiles::hide(const std::string& index, const TreeFile& gone) {
    WHEELYARD_TRY(disk_.remove(flat_folder(tree_, index) / gone.filename));
    flat_changed_.insert(index);
    return {};
}

base::Status TreeFiles::sync_flat() {
    for (const auto& index : flat_changed_) {
        WHEELYARD_ASSIGN(const bool has_folder, exists(flat_folder(tree_, index)));
        if (has_folder) WHEELYARD_TRY(disk_.sync_directory(flat_folder(tree_, index)));
    }
    flat_changed_.clear();
    return {};
}

// The path holds the hash and files appear atomically, so the size suffices. check.hpp finds deliberate
// damage.
base::Result<bool> TreeFiles::is_in_place(const std::string& file, std::uint64_t size_bytes) {
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
    return size == size_bytes;
}

base::Result<bool> TreeFiles::exists(const fs::path& file) {
    WHEELYARD_ASSIGN(const auto size, disk_.size_of(file));
    return size.has_value();
}

}  // namespace wheelyard::indexer
