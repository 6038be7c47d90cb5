#include "lib/base/files/untrusted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "lib/base/files/file.hpp"

namespace wheelyard::base {
namespace {

tl::unexpected<Error> fail_not_regular(const fs::path& path) {
    return fail("file.not_regular", "This is not a regular file", path.native());
}

}  // namespace

Result<Fd> open_untrusted(const fs::path& path) {
    Fd fd;
    do
        fd = Fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    while (!fd && errno == EINTR);
    if (!fd && (errno == ELOOP || errno == ENXIO)) return fail_not_regular(path);  // a link; a socket
    if (!fd) return fail_errno("open", path.native(), errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return fail_errno("stat", path.native(), errno);
    if (!S_ISREG(status.st_mode)) return fail_not_regular(path);
    return fd;
}

Result<std::string> read_untrusted_file(const fs::path& path, std::uint64_t limit_bytes) {
    WHEELYARD_ASSIGN(const auto fd, open_untrusted(path));
    return read_file(fd, path, limit_bytes);
}

}  // namespace wheelyard::base
