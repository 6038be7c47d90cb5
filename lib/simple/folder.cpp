#include "lib/simple/folder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "lib/base/text/url.hpp"

namespace wheelyard::simple {
namespace {

constexpr std::size_t max_folder_files = 200'000;

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> extensions{".whl", ".tar.gz", ".zip"};

bool is_package(std::string_view filename) {
    return std::any_of(extensions.begin(), extensions.end(),
                       [&](auto extension) { return filename.ends_with(extension); });
}

}  // namespace

base::Result<PackageFolder> read_folder(const fs::path& folder,
                                        const std::function<bool(std::string_view filename)>& chosen) {
    const auto unreadable = [&](const std::error_code& error) {
        return base::fail("simple.folder", "The folder of wheels cannot be read: " + error.message(),
                          folder.string(), "check that it exists and that you may list it");
    };
    std::error_code error;
    const auto absolute = fs::absolute(folder, error);
    if (error) return unreadable(error);
    fs::directory_iterator entries(absolute, error);
    if (error) return unreadable(error);
    PackageFolder found;
    auto& page = found.page;
    const std::size_t name_at = absolute.native().size() + (absolute.native().ends_with('/') ? 0 : 1);
    for (; entries != fs::directory_iterator(); entries.increment(error)) {
        const std::string_view name = std::string_view(entries->path().native()).substr(name_at);
        std::error_code gone;  // a file may disappear while the folder is read
        if (!is_package(name)) {
            // The type comes with the entry: no system call, except for links.
            if (!name.starts_with('.') && entries->is_directory(gone)) found.folders.emplace_back(name);
            continue;
        }
        ++found.packages;
        if (chosen && !chosen(name)) continue;
        const auto size = entries->is_regular_file(gone) ? entries->file_size(gone) : 0;
        if (gone || size == 0) continue;
        if (page.files.size() == max_folder_files)
            return base::fail("simple.too_many", "The folder contains too many files", folder.string());
        FileLink link;
        link.filename = name;
        link.size_bytes = size;
        link.url = base::file_url(entries->path().native());
        page.files.push_back(std::move(link));
    }
    if (error) return unreadable(error);
    std::sort(page.files.begin(), page.files.end(),
              [](const FileLink& a, const FileLink& b) { return a.filename < b.filename; });
    return found;
}

}  // namespace wheelyard::simple
