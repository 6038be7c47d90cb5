// Renders errors and maps errno values to codes and advice.
#include "lib/base/result.hpp"

#include <sys/fsuid.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace wheelyard::base {
namespace {

struct ErrnoRow {
    int number;
    const char* name;
    const char* advice;
};

// strerrorname_np(3) needs glibc 2.32; clusters run older versions.
constexpr ErrnoRow errno_rows[] = {
    {EACCES, "EACCES", "check the owner and mode of the file and of its parent folders"},
    {EAGAIN, "EAGAIN", ""},
    {EBADF, "EBADF", ""},
    {EBUSY, "EBUSY", ""},
    {ECONNREFUSED, "ECONNREFUSED", ""},
    {EDQUOT, "EDQUOT", "free space or ask for a larger quota"},
    {EEXIST, "EEXIST", "name another one, or remove that"},
    {EFBIG, "EFBIG", "raise the file size limit (ulimit -f), or use another file system"},
    {EINVAL, "EINVAL", ""},
    {EIO, "EIO", "the storage reports a fault; see the kernel log"},
    {EISDIR, "EISDIR", ""},
    {ELOOP, "ELOOP", ""},
    {EMFILE, "EMFILE", "raise the limit on open files (ulimit -n)"},
    {EMLINK, "EMLINK", ""},
    {ENAMETOOLONG, "ENAMETOOLONG", ""},
    {ENFILE, "ENFILE", ""},
    {ENODEV, "ENODEV", ""},
    {ENOENT, "ENOENT", "check the path"},
    {ENOEXEC, "ENOEXEC",
     "a script needs a first line such as #!/bin/sh; a binary must match this machine's architecture"},
    {ENOMEM, "ENOMEM", ""},
    {ENOSPC, "ENOSPC", "free space on that file system"},
    {ENOTDIR, "ENOTDIR", "a part of this path is a file"},
    {ENOTEMPTY, "ENOTEMPTY", ""},
    {ENXIO, "ENXIO", ""},
    {EPERM, "EPERM", "check the owner and mode of the file and of its parent folders"},
    {EPIPE, "EPIPE", ""},
    {EROFS, "EROFS", "choose a folder on a writable file system"},
    {ESTALE, "ESTALE", "the network file system lost the file; try again"},
    {ETIMEDOUT, "ETIMEDOUT", ""},
    {ETXTBSY, "ETXTBSY", ""},
    {EXDEV, "EXDEV", "put both folders on the same file system"},
};

}  // namespace

std::string Error::text() const {
    std::string out = sentence;
    if (out.ends_with('.') && !(value.empty() && advice.empty())) out.pop_back();  // of a server's sentence
    if (!value.empty()) out += ": `" + value + "`";
    if (!advice.empty()) out += " (" + advice + ")";
    return out;
}

tl::unexpected<Error> fail_errno(std::string_view what, std::string_view subject, int error_number) {
    Error error{"os.errno_" + std::to_string(error_number),
                std::string(what) + " failed: " + std::generic_category().message(error_number),
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
    if (error_number == EACCES && ::geteuid() == 0) {
        const int user = ::setfsuid(static_cast<uid_t>(-1));  // which only asks
        if (user > 0)
            error.advice += "; root works in a folder of user " + std::to_string(user) + " as that user";
    }
    return fail(std::move(error));
}

}  // namespace wheelyard::base
