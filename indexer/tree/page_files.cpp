// A compressed page is compared like any other, because a killed run may have written it without its plain
// twin.
#include "indexer/tree/page_files.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "indexer/tree/limits.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/io/gzip.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

base::Result<bool> is_there(Disk& disk, const std::string& file, const std::string& bytes) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size || *size != bytes.size() || bytes.size() > max_page_bytes) return false;
    WHEELYARD_ASSIGN(const auto there, disk.read(file, max_page_bytes));
    return there == bytes;
}

}  // namespace

base::Result<bool> write_pages(Disk& disk, const std::string& folder, const std::vector<NamedBytes>& pages,
                               bool precompressed) {
    WHEELYARD_ASSIGN(const bool is_new, disk.make_directories(folder));
    if (!is_new) WHEELYARD_TRY(disk.remove_leftovers(folder));
    if (is_new && !precompressed) {
        WHEELYARD_TRY(disk.replace_together(folder, pages));
        return true;
    }
    std::vector<NamedBytes> differing;
    bool removed = false;
    const auto differs = [&](const std::string& name, const std::string& bytes) -> base::Result<bool> {
        if (is_new) return true;
        WHEELYARD_ASSIGN(const bool same, is_there(disk, folder + "/" + name, bytes));
        return !same;
    };
    for (const auto& page : pages) {
        if (precompressed) {
            // Before the plain page, whose existence marks the project as published.
            const std::string name = page.name + std::string(gzip_suffix);
            if (page.bytes.size() >= min_gzipped_bytes) {
                WHEELYARD_ASSIGN(auto bytes, io::gzip(page.bytes));
                WHEELYARD_ASSIGN(const bool is_another, differs(name, bytes));
                if (is_another) differing.push_back({name, std::move(bytes)});
            } else if (!is_new) {
                const std::string file = folder + "/" + name;
                WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
                if (size) WHEELYARD_TRY(disk.remove(file));
                removed = removed || size.has_value();
            }
        }
        WHEELYARD_ASSIGN(const bool is_another, differs(page.name, page.bytes));
        if (is_another) differing.push_back(page);
    }
    if (!differing.empty()) {
        WHEELYARD_TRY(disk.replace_together(folder, differing));
        return true;
    }
    // A killed run may have renamed these bytes without syncing them.
    WHEELYARD_TRY(disk.sync_directory(folder));
    return removed;
}

base::Status remove_pages(Disk& disk, const fs::path& folder) {
    WHEELYARD_ASSIGN(const auto there, disk.size_of(folder));
    if (!there) return {};
    WHEELYARD_TRY(disk.remove_leftovers(folder));
    for (const auto page : {html_page, json_page}) {
        WHEELYARD_TRY(disk.remove(folder / page));
        WHEELYARD_TRY(disk.remove(folder / (std::string(page) + std::string(gzip_suffix))));
    }
    return disk.sync_directory(folder);
}

base::Status remove_folder(Disk& disk, const fs::path& folder, const base::KeepAlive& keep_alive) {
    WHEELYARD_TRY(keep_alive());
    std::vector<fs::path> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
        entries.push_back(entry->path());
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    for (const fs::path& entry : entries) {
        std::error_code ignored;
        if (fs::is_directory(fs::symlink_status(entry, ignored)))
            WHEELYARD_TRY(remove_folder(disk, entry, keep_alive));
        else
            WHEELYARD_TRY(disk.remove(entry));
    }
    return disk.remove(folder);
}

base::Result<std::vector<std::string>> names_with_folders(const fs::path& tree, const std::string& index) {
    return folders_below(root_folder(tree, index));
}

base::Result<std::vector<std::string>> folders_below(const fs::path& root) {
    std::vector<std::string> names;
    std::error_code error;
    if (!fs::exists(root, error)) return names;
    for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_directory(ignored)) names.push_back(entry->path().filename().native());
    }
    if (error) return base::fail_errno("readdir", root.native(), error.value());
    std::sort(names.begin(), names.end());
    return names;
}

base::Result<std::vector<std::string>> names_with_pages(const fs::path& tree, const std::string& index) {
    WHEELYARD_ASSIGN(auto names, names_with_folders(tree, index));
    std::erase_if(names, [&](const std::string& name) {
        std::error_code ignored;
        return !fs::exists(project_folder(tree, index, name) / html_page, ignored);
    });
    return names;
}

}  // namespace wheelyard::indexer
