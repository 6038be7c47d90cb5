// As for staged blobs (blobs/staging.hpp), a flock(2) marks a folder as in use; the kernel releases it when the
// process ends. On a file system without folder locks, leftovers stay, because their state is unknown.
#include "registry/intake/imports/import_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "import";
constexpr std::size_t name_length = prefix.size() + 7;  // "-XXXXXX"
constexpr int max_tries = 16;

base::Fd open_folder(const fs::path& path) {
    return base::Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool is_import_folder(const fs::path& path) {
    const std::string name = path.filename().native();
    return name.size() == name_length && name.starts_with(std::string(prefix) + "-");
}

bool is_linked(int folder) {
    struct stat status {};
    return ::fstat(folder, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

base::Result<ImportFolder> ImportFolder::make(const fs::path& store) {
    for (int tries = 0; tries < max_tries; ++tries) {
        WHEELYARD_ASSIGN(base::TempDir folder, base::TempDir::make(prefix, store));
        base::Fd lock = open_folder(folder.path());
        // Another process may have removed the folder as a leftover before it was locked.
        if (lock && (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
            is_linked(lock.get()))
            return ImportFolder(std::move(folder), std::move(lock));
    }
    return base::fail("import.contended", "Another process keeps removing new folders from the store",
                      store.native());
}

void remove_left_import_folders(const fs::path& store) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator entry(store, error), end; !error && entry != end; entry.increment(error)) {
        if (is_import_folder(entry->path())) found.push_back(entry->path());
    }
    for (const fs::path& path : found) {
        const base::Fd folder = open_folder(path);
        if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) continue;
        fs::remove_all(path, error);
        if (error) io::log_warn("import.left_over", {{"folder", path.native()}, {"error", error.message()}});
    }
}

}  // namespace wheelyard::registry
