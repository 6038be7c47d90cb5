#include "lib/base/files/private_files.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "lib/base/files/file.hpp"

namespace wheelyard::base {
namespace {

constexpr mode_t of_others = S_IRWXG | S_IRWXO;
constexpr mode_t all_bits = 07777;

}  // namespace

Status make_private(const std::filesystem::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0)
        return errno == ENOENT ? Status{} : Status(fail_errno("lstat", path.native(), errno));
    if (S_ISLNK(info.st_mode) || (info.st_mode & of_others) == 0) return {};
    if (::chmod(path.c_str(), info.st_mode & all_bits & ~of_others) == 0 || errno == EPERM) return {};
    return fail_errno("chmod", path.native(), errno);
}

Status make_private_directories(const std::filesystem::path& path) {
    WHEELYARD_TRY(make_directories(path));
    return make_private(path);
}

Status create_private(const std::filesystem::path& path) {
    const auto created = create_new(path, S_IRUSR | S_IWUSR);
    if (created) return {};
    if (created.error().os_error != EEXIST) return fail(created.error());
    return make_private(path);
}

}  // namespace wheelyard::base
