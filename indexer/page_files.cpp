// A compressed page is compared like any other: a killed run may have written it and not its plain twin.
#include "indexer/page_files.hpp"

#include <utility>

#include "indexer/limits.hpp"
#include "indexer/paths.hpp"
#include "lib/io/gzip.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;

namespace {

base::Result<bool> is_there(Disk& disk, const fs::path& file, const std::string& bytes) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size || *size != bytes.size() || bytes.size() > longest_page_bytes) return false;
    WHEELYARD_ASSIGN(const auto there, disk.read(file, longest_page_bytes));
    return there == bytes;
}

}  // namespace

base::Result<bool> write_pages(Disk& disk, const fs::path& folder, std::vector<NamedBytes> pages,
                               bool precompressed) {
    std::vector<NamedBytes> wanted;
    bool removed = false;
    for (auto& page : pages) {
        if (precompressed) {
            // Before the plain page, whose presence says that the project is out.
            const std::string name = page.name + std::string(gzip_suffix);
            if (page.bytes.size() >= least_gzipped_bytes) {
                WHEELYARD_ASSIGN(auto bytes, io::gzip(page.bytes));
                wanted.push_back({name, std::move(bytes)});
            } else {
                WHEELYARD_ASSIGN(const auto size, disk.size_of(folder / name));
                if (size) WHEELYARD_TRY(disk.remove(folder / name));
                removed = removed || size.has_value();
            }
        }
        wanted.push_back(std::move(page));
    }
    std::vector<NamedBytes> differing;
    for (auto& page : wanted) {
        WHEELYARD_ASSIGN(const bool same, is_there(disk, folder / page.name, page.bytes));
        if (!same) differing.push_back(std::move(page));
    }
    if (!differing.empty()) {
        WHEELYARD_TRY(disk.replace_together(folder, differing));
        return true;
    }
    // The bytes may be a killed run's, renamed but not yet synced.
    WHEELYARD_TRY(disk.sync_directory(folder));
    return removed;
}

}  // namespace wheelyard::indexer
