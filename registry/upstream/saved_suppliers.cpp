#include "registry/upstream/saved_suppliers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "wheelyard.suppliers/1\n";
constexpr std::size_t write_bytes = 1 << 20;

fs::path file_in(const fs::path& backup) {
    return backup / "suppliers.tsv";
}

struct PageFile {
    std::string cache_index;
    std::string project;
    fs::path path;
    bool operator<(const PageFile& other) const { return path < other.path; }
};

std::vector<PageFile> page_files(const fs::path& pages) {
    std::vector<PageFile> found;
    std::error_code ended;
    for (fs::directory_iterator cache(pages, ended), end; !ended && cache != end; cache.increment(ended)) {
        std::error_code none;
        for (fs::directory_iterator page(cache->path() / "pages", none); !none && page != end;
             page.increment(none)) {
            const std::string project = page->path().stem().native();
            if (page->path().extension() == ".json" && wheel::is_valid_name(project))
                found.push_back({cache->path().filename().native(), project, page->path()});
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

// nullopt: the upstream was never asked with success, or can be asked again.
std::optional<CachedPage> kept_of(const base::Result<CachedPage>& page) {
    if (!page) return CachedPage{.is_absent = true, .absent_since = 1};  // as PageStore reads it
    CachedPage kept = absent_page(&*page);
    kept.checked = page->checked;
    const bool was_there = !page->is_absent && (!page->files.empty() || !page->gone.empty());
    if (was_there && kept.absent_since == 0) kept.absent_since = std::max<base::UnixMicros>(kept.checked, 1);
    const bool says_something =
        kept.absent_since != 0 || !kept.gone.empty() || !kept.supplies.empty() || kept.released != 0;
    return says_something ? std::optional(std::move(kept)) : std::nullopt;
}

tl::unexpected<base::Error> damaged(const fs::path& file, std::string_view line) {
    return base::fail_malformed("upstream.suppliers_file",
                                "The backup's list of who supplies which project is damaged",
                                file.native() + ": " + std::string(line.substr(0, 100)));
}

bool is_cache_name(std::string_view name) {
    return name.find('.') != std::string_view::npos && !name.starts_with('.') &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return base::is_ascii_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

base::Status restore_line(const fs::path& file, std::string_view line, const fs::path& pages) {
    const auto parts = base::split(line, '\t');
    if (parts.size() != 3 || !is_cache_name(parts[0]) || !wheel::is_valid_name(parts[1]) ||
        !parse_cached_page(parts[2]))
        return damaged(file, line);
    const fs::path folder = pages / parts[0] / "pages";
    std::error_code unknown;
    if (!fs::exists(folder, unknown)) WHEELYARD_TRY(base::make_directories(folder));
    const fs::path page = folder / (std::string(parts[1]) + ".json");
    auto created = base::create_new(page, base::private_file_mode);
    if (!created && created.error().os_error == EEXIST) return {};
    if (!created) return base::fail(std::move(created.error()));
    WHEELYARD_TRY(base::write_all(created->get(), parts[2]));
    return base::close_file(*std::move(created), page.native());
}

}  // namespace

base::Status save_suppliers(const fs::path& pages, const fs::path& backup) {
    const std::vector<PageFile> files =
        base::acting_as(base::FileUser::owner, [&] { return page_files(pages); });
    std::error_code unknown;
    if (files.empty() && !fs::exists(file_in(backup), unknown)) return {};
    WHEELYARD_ASSIGN(auto list, base::FileReplacement::begin(file_in(backup), base::private_file_mode));
    std::string lines(first_line);
    for (const PageFile& file : files) {
        const auto text = base::acting_as(base::FileUser::owner,
                                          [&] { return base::read_file(file.path, max_page_file_bytes); });
        if (!text && text.error().os_error == ENOENT) continue;
        const auto kept =
            kept_of(text ? parse_cached_page(*text) : base::Result<CachedPage>(base::fail(text.error())));
        if (!kept) continue;
        lines.append(file.cache_index).append("\t").append(file.project).append("\t");
        lines.append(render_cached_page(*kept)).append("\n");
        if (lines.size() < write_bytes) continue;
        WHEELYARD_TRY(list.write(lines));
        lines.clear();
    }
    WHEELYARD_TRY(list.write(lines));
    return list.commit();
}

base::Status restore_suppliers(const fs::path& backup, const fs::path& pages) {
    const fs::path file = file_in(backup);
    const auto reader = base::acting_as(base::FileUser::caller, [&] { return base::FileReader::open(file); });
    if (!reader && reader.error().os_error == ENOENT) return {};
    if (!reader) return base::fail(reader.error());
    WHEELYARD_TRY(base::make_private_directories(pages));
    std::string rest;
    bool has_begun = false;
    const auto take = [&](std::string_view piece) -> base::Status {
        rest.append(piece);
        std::size_t begin = 0;
        for (std::size_t end = 0; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
            const std::string_view line = std::string_view(rest).substr(begin, end - begin);
            if (!has_begun && line != first_line.substr(0, first_line.size() - 1)) return damaged(file, line);
            if (has_begun) WHEELYARD_TRY(restore_line(file, line, pages));
            has_begun = true;
        }
        rest.erase(0, begin);
        return rest.size() > max_page_file_bytes ? base::Status(damaged(file, rest)) : base::Status();
    };
    WHEELYARD_TRY(base::for_each_piece(*reader, write_bytes, take));
    if (!rest.empty() || !has_begun) return damaged(file, rest);
    // The files of all projects at once: one fsync for each would take minutes.
    WHEELYARD_ASSIGN(const base::Fd folder, base::open_read(pages));
    if (::syncfs(folder.get()) != 0) return base::fail_errno("syncfs", pages.native(), errno);
    return {};
}

}  // namespace wheelyard::registry
