// Makes and removes temporary folders.
#include "lib/base/temp_dir.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace wheelyard::base {
namespace fs = std::filesystem;
namespace {

// Without an exception, and through folders that a build left unwritable or unreadable.
void remove_tree(const fs::path& path) {
    if (path.empty()) return;
    std::error_code error;
    fs::remove_all(path, error);
    if (!error) return;
    const auto open_up = [&](const fs::path& folder) {
        std::error_code ignored;
        fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
    };
    // A folder is opened up before the iterator steps into it: the entry comes first, its content next.
    open_up(path);
    std::error_code walk;
    for (fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, walk), end;
         !walk && at != end; at.increment(walk)) {
        std::error_code ignored;
        if (at->symlink_status(ignored).type() == fs::file_type::directory) open_up(at->path());
    }
    fs::remove_all(path, error);
}

}  // namespace

Result<TempDir> TempDir::make(std::string_view prefix, const fs::path& parent) {
    const char* from_environment = std::getenv("TMPDIR");
    const fs::path folder = !parent.empty()                                 ? parent
                            : from_environment && *from_environment != '\0' ? fs::path(from_environment)
                                                                            : fs::path("/tmp");
    std::string path = (folder / (std::string(prefix) + "-XXXXXX")).native();
    if (::mkdtemp(path.data()) == nullptr) return fail_errno("mkdtemp", path, errno);
    return TempDir(path);
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
    if (this != &other) {
        remove_tree(path_);
        path_ = std::exchange(other.path_, {});
    }
    return *this;
}

TempDir::~TempDir() {
    remove_tree(path_);
}

}  // namespace wheelyard::base
