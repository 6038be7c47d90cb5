// A compressed page is compared like any other, because a killed run may have written it without its plain
// twin.
#include "indexer/tree/page_files.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <system_error>
#include <utility>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/io/gzip.hpp"
#include "lib/io/zstd.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

struct Coding {
    std::string_view suffix;
    base::Result<std::string> (*pack)(std::string_view text);
};
constexpr std::array all_codings{Coding{gzip_suffix, io::gzip}, Coding{zstd_suffix, io::zstd}};

std::span<const Coding> codings() {
    return std::span(all_codings).first(io::has_zstd() ? 2 : 1);
}

// Wheels, other links to them, and what belongs to the publisher.
bool has_pages(const fs::path& folder) {
    const std::string name = folder.filename().native();
    return name != "files" && name != "find-links" && !name.starts_with('.');
}

// False: there was none.
base::Result<bool> remove_if_there(Disk& disk, const std::string& file) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (size) WHEELYARD_TRY(disk.remove(file));
    return size.has_value();
}

}  // namespace

base::Result<bool> has_bytes(Disk& disk, const std::string& file, const std::string& bytes) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size || *size != bytes.size() || bytes.size() > max_page_bytes) return false;
    WHEELYARD_ASSIGN(const auto there, disk.read(file, max_page_bytes));
    return there == bytes;
}

std::set<std::string> kept_copies() {
    std::set<std::string> suffixes;
    for (const Coding& coding : codings())
        suffixes.emplace(coding.suffix);
    return suffixes;
}

base::Status remove_left_copies(Disk& disk, const fs::path& tree, const std::set<std::string>& kept,
                                const base::KeepAlive& keep_alive) {
    const std::set<std::string> keeps = kept_copies();
    std::set<std::string> left;
    for (const Coding& coding : all_codings) {
        const std::string suffix(coding.suffix);
        const bool is_of_all_versions = suffix == gzip_suffix;
        if (!is_of_all_versions && !(kept.contains(suffix) && keeps.contains(suffix))) left.insert(suffix);
    }
    if (left.empty()) return {};
    std::error_code error;
    for (fs::recursive_directory_iterator entry(tree, error), end; !error && entry != end;
         entry.increment(error)) {
        std::error_code ignored;
        if (entry->is_directory(ignored)) {
            if (!has_pages(entry->path())) entry.disable_recursion_pending();
            WHEELYARD_TRY(keep_alive());
        } else if (left.contains(entry->path().extension().native())) {
            WHEELYARD_TRY(disk.remove(entry->path()));
        }
    }
    if (error && error != std::errc::no_such_file_or_directory)
        return base::fail_errno("readdir", tree.native(), error.value());
    return {};
}

base::Result<bool> write_pages(Disk& disk, const std::string& folder, const std::vector<NamedBytes>& pages,
                               bool precompressed, bool* lacks_copies) {
    const bool copies_now = lacks_copies == nullptr;
    const std::size_t packed_from = precompressed ? min_gzipped_bytes : min_large_page_bytes;
    const auto is_packed = [&](const NamedBytes& page) { return page.bytes.size() >= packed_from; };
    WHEELYARD_ASSIGN(const bool is_new, disk.make_directories(folder));
    if (!is_new) WHEELYARD_TRY(disk.remove_leftovers(folder));
    const bool has_packed = std::any_of(pages.begin(), pages.end(), is_packed);
    if (is_new && !(has_packed && copies_now)) {
        if (!copies_now) *lacks_copies = has_packed;
        WHEELYARD_TRY(disk.replace_together(folder, pages));
        return true;
    }
    std::vector<NamedBytes> differing;
    bool removed = false;
    const auto differs = [&](const std::string& name, const std::string& bytes) -> base::Result<bool> {
        if (is_new) return true;
        WHEELYARD_ASSIGN(const bool same, has_bytes(disk, folder + "/" + name, bytes));
        return !same;
    };
    for (const auto& page : pages) {
        WHEELYARD_ASSIGN(const bool is_another_page, differs(page.name, page.bytes));
        // Before the plain page, whose existence marks the project as published.
        for (const Coding& coding : codings()) {
            const std::string name = page.name + std::string(coding.suffix);
            if (is_packed(page) && (copies_now || !is_another_page)) {
                WHEELYARD_ASSIGN(auto bytes, coding.pack(page.bytes));
                WHEELYARD_ASSIGN(const bool is_another, differs(name, bytes));
                if (is_another) differing.push_back({name, std::move(bytes)});
            } else if (!is_new) {
                WHEELYARD_ASSIGN(const bool was_there, remove_if_there(disk, folder + "/" + name));
                removed = removed || was_there;
            }
            if (is_packed(page) && !copies_now && is_another_page) *lacks_copies = true;
        }
        if (is_another_page) differing.push_back(page);
    }
    if (!differing.empty()) {
        if (removed) WHEELYARD_TRY(disk.sync_directory(folder));
        WHEELYARD_TRY(disk.replace_together(folder, differing));
        return true;
    }
    // A killed run may have renamed these bytes without syncing them.
    WHEELYARD_TRY(disk.sync_directory(folder));
    return removed;
}

base::Status write_copies(Disk& disk, const std::string& folder, bool precompressed) {
    std::vector<NamedBytes> pages;
    for (const std::string_view name : {json_page, html_page}) {
        const std::string file = folder + "/" + std::string(name);
        WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
        if (!size || *size > max_page_bytes) continue;
        WHEELYARD_ASSIGN(auto text, disk.read(file, max_page_bytes));
        pages.push_back({std::string(name), std::move(text)});
    }
    if (!pages.empty()) WHEELYARD_TRY(write_pages(disk, folder, pages, precompressed));
    return {};
}

base::Status replace_text_via(Disk& disk, const fs::path& temp, const fs::path& path,
                              std::string_view bytes) {
    for (const Coding& coding : codings()) {
        const std::string copy = path.native() + std::string(coding.suffix);
        if (bytes.size() >= min_gzipped_bytes) {
            WHEELYARD_ASSIGN(const auto packed, coding.pack(bytes));
            WHEELYARD_TRY(disk.replace_via(temp, copy, packed));
        } else {
            WHEELYARD_TRY(remove_if_there(disk, copy));
        }
    }
    return disk.replace_via(temp, path, bytes);
}

base::Status remove_page(Disk& disk, const fs::path& page) {
    WHEELYARD_TRY(disk.remove(page));
    for (const Coding& coding : all_codings)
        WHEELYARD_TRY(disk.remove(page.native() + std::string(coding.suffix)));
    return {};
}

base::Status remove_pages(Disk& disk, const fs::path& folder) {
    WHEELYARD_ASSIGN(const auto there, disk.size_of(folder));
    if (!there) return {};
    WHEELYARD_TRY(disk.remove_leftovers(folder));
    for (const auto page : {html_page, json_page})
        WHEELYARD_TRY(remove_page(disk, folder / page));
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
