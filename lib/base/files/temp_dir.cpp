// Makes and removes temporary folders.
#include "lib/base/files/temp_dir.hpp"

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "lib/base/files/remove_tree.hpp"

namespace wheelyard::base {
namespace fs = std::filesystem;
namespace {

void clear(const fs::path& path) {
    if (!path.empty()) static_cast<void>(remove_tree(path));
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
        clear(path_);
        path_ = std::exchange(other.path_, {});
    }
    return *this;
}

TempDir::~TempDir() {
    clear(path_);
}

}  // namespace wheelyard::base
