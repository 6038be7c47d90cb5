#include "indexer/publish/withdrawn.hpp"

#include <system_error>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/page_files.hpp"
#include "indexer/tree/paths.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

// What a killed update of wheel lists left may name projects. All of it can be rebuilt.
base::Status remove_wheel_list_state(Disk& disk, const fs::path& tree, const base::KeepAlive& keep_alive) {
    const fs::path folder = wheel_lists_folder(tree);
    std::error_code error;
    std::vector<fs::path> entries;
    if (!fs::exists(folder, error)) return {};
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (entry->path().filename() != "lock") entries.push_back(entry->path());
    }
    if (error) return base::fail_errno("readdir", folder.native(), error.value());
    for (const fs::path& entry : entries)
        WHEELYARD_TRY(disk.remove(entry));
    return keep_alive();
}

}  // namespace

base::Status withdraw_indexes(Disk& disk, const fs::path& tree, const catalog::Inheritance& inheritance,
                              PublishedState& state, const base::KeepAlive& keep_alive,
                              const base::Clock& clock) {
    std::erase_if(state.stale_roots, [&](const std::string& index) { return !inheritance.is_in(index); });
    std::erase_if(state.lagging, [&](const StaleProject& stale) { return !inheritance.is_in(stale.index); });
    std::erase_if(state.serials, [&](const auto& of) { return !inheritance.is_in(of.first); });
    keep_readers(state.pages.farm, inheritance);
    WHEELYARD_ASSIGN(auto names, folders_below(tree));
    std::erase_if(names,
                  [&](const std::string& name) { return name.starts_with('.') || inheritance.is_in(name); });
    if (names.empty()) return {};
    // An update of wheel lists that began under the old rules would write into the removed folders.
    WHEELYARD_TRY(disk.make_directories(wheel_lists_folder(tree).native()));
    WHEELYARD_ASSIGN(const TreeLock no_update, TreeLock::acquire_wheel_lists(tree, clock));
    WHEELYARD_TRY(remove_pages(disk, tree));
    WHEELYARD_TRY(remove_wheel_list_state(disk, tree, keep_alive));
    for (const std::string& name : names) {
        for (const auto draft : {status_draft, flat_draft})
            WHEELYARD_TRY(disk.remove(draft_file(tree, name, draft)));
        WHEELYARD_TRY(remove_folder(disk, tree / name, keep_alive));
    }
    WHEELYARD_TRY(disk.sync_directory(state_folder(tree).native()));
    return disk.sync_directory(tree.native());
}

void keep_readers(FarmText& farm, const catalog::Inheritance& inheritance) {
    for (auto* texts : {&farm.titles, &farm.upstreams})
        std::erase_if(*texts, [&](const auto& text) { return !inheritance.is_in(text.first); });
    for (auto* names : {&farm.hidden, &farm.without_pages})
        std::erase_if(*names, [&](const std::string& index) { return !inheritance.is_in(index); });
}

base::Status make_private_folder(Disk& disk, const fs::path& tree) {
    WHEELYARD_TRY(disk.make_directories(tree.native()));
    std::error_code error;
    fs::permissions(tree, fs::perms::owner_all, fs::perm_options::replace, error);
    if (error) return base::fail_errno("chmod", tree.native(), error.value());
    return {};
}

}  // namespace wheelyard::indexer
