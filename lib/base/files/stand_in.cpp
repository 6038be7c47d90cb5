#include "lib/base/files/stand_in.hpp"

#include <unistd.h>

#include <cerrno>

#include "lib/base/files/file.hpp"

namespace wheelyard::base {

bool is_stand_in(const std::filesystem::path& file) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) == 0 && is_stand_in(status);
}

Result<Fd> create_stand_in(const std::filesystem::path& path, std::uint64_t size_bytes) {
    WHEELYARD_ASSIGN(Fd file, create_new(path, 0));
    if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) == 0) return file;
    const int why = errno;
    ::unlink(path.c_str());
    return fail_errno("ftruncate", path.string(), why);
}

}  // namespace wheelyard::base
