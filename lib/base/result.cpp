// Renders errors and names the system's error numbers.
#include "lib/base/result.hpp"

#include <cerrno>
#include <cstring>

namespace wheelyard::base {
namespace {

struct ErrnoRow {
    int number;
    const char* name;
    const char* advice;
};

// strerrorname_np would do, but it needs glibc 2.32 and clusters run older ones.
constexpr ErrnoRow errno_rows[] = {
    {EACCES, "EACCES", "check the owner and the mode of it and of the folders above"},
    {EAGAIN, "EAGAIN", ""},
    {EBADF, "EBADF", ""},
    {EBUSY, "EBUSY", ""},
    {ECONNREFUSED, "ECONNREFUSED", ""},
    {EDQUOT, "EDQUOT", "free space or ask for a larger quota"},
    {EEXIST, "EEXIST", ""},
    {EFBIG, "EFBIG", "the file system or a ulimit forbids files of this size"},
    {EINVAL, "EINVAL", ""},
    {EIO, "EIO", "the storage reports a fault; see the kernel's log"},
    {EISDIR, "EISDIR", ""},
    {ELOOP, "ELOOP", ""},
    {EMFILE, "EMFILE", "raise the limit on open files (ulimit -n)"},
    {EMLINK, "EMLINK", ""},
    {ENAMETOOLONG, "ENAMETOOLONG", ""},
    {ENFILE, "ENFILE", ""},
    {ENODEV, "ENODEV", ""},
    {ENOENT, "ENOENT", ""},
    {ENOEXEC, "ENOEXEC", "a script needs a first line like #!/bin/sh, a program the machine's own format"},
    {ENOMEM, "ENOMEM", ""},
    {ENOSPC, "ENOSPC", "free space on that file system"},
    {ENOTDIR, "ENOTDIR", ""},
    {ENOTEMPTY, "ENOTEMPTY", ""},
    {ENXIO, "ENXIO", ""},
    {EPERM, "EPERM", "check the owner and the mode of it and of the folders above"},
    {EPIPE, "EPIPE", ""},
    {EROFS, "EROFS", "choose a folder on a writable file system"},
    {ESTALE, "ESTALE", "the network file system lost the file; try again"},
    {ETIMEDOUT, "ETIMEDOUT", ""},
    {ETXTBSY, "ETXTBSY", ""},
    {EXDEV, "EXDEV", "keep both folders on one file system"},
};

}  // namespace

std::string Error::text() const {
    std::string out = sentence;
    if (!value.empty()) out += ": `" + value + "`";
    if (!advice.empty()) out += " (" + advice + ")";
    return out;
}

tl::unexpected<Error> fail_errno(std::string_view what, std::string_view subject, int error_number) {
    char buffer[256];
    // The GNU form returns the text, which may or may not lie in the buffer (strerror(3)).
    const char* meaning = strerror_r(error_number, buffer, sizeof buffer);
    Error error{"os.errno_" + std::to_string(error_number), std::string(what) + " failed: " + meaning,
                std::string(subject)};
    const bool is_final = error_number == EISDIR || error_number == ELOOP || error_number == ENAMETOOLONG;
    error.recovery = is_final ? Recovery::never : Recovery::retry;
    error.os_error = error_number;
    for (const auto& row : errno_rows) {
        if (row.number == error_number) {
            error.code = std::string("os.") + row.name;
            error.advice = row.advice;
        }
    }
    return fail(std::move(error));
}

}  // namespace wheelyard::base
