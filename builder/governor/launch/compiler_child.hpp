// What surrounds one try of one compile, by the kernel's calls alone: its output's files, and the child until
// it becomes the compiler. So it serves before libc is started (early_launcher.cpp) and in a child that
// shares its parent's memory (vfork(2)). Each file that includes it has its own copy, compiled as that file
// is.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builder/governor/launch/kernel_calls.hpp"

namespace wheelyard::governor {

// What a launcher hears of through its signalfd.
inline constexpr int caught_signals[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP};

// Descriptors of files in memory, negative when the kernel gives none. Where our stdout and stderr are one
// file, so are these (`err` is -1 then): one open file description for both streams, so that writes follow
// each other.
struct OutputFiles {
    int out = -1, err = -1;
};

WHEELYARD_KERNEL_CALL int file_for_err(const OutputFiles& files) {
    return files.err >= 0 ? files.err : files.out;
}

WHEELYARD_KERNEL_CALL OutputFiles make_output_files() {
    OutputFiles files;
    files.out = static_cast<int>(kernel::call(SYS_memfd_create, "compiler output", MFD_CLOEXEC));
    struct stat out, err;  // NOLINT: the kernel fills them
    const bool known = kernel::file_status(STDOUT_FILENO, out) && kernel::file_status(STDERR_FILENO, err);
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult)
    const bool same = known && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
    if (!same) files.err = static_cast<int>(kernel::call(SYS_memfd_create, "compiler errors", MFD_CLOEXEC));
    return files;
}

// Ends where one of them cannot be read or written. (In pieces that a pipe takes whole, so that lines of
// several compilers do not mix; not inlined, as a page is touched where it stands.)
[[gnu::noinline]] static void copy_file_to(int from, int to) {
    char buffer[65536];  // NOLINT: filled below
    for (long at = 0;;) {
        const long got = kernel::read_at(from, &buffer[0], sizeof buffer, at);
        if (got <= 0) return;
        for (long sent = 0; sent < got;) {
            const long written = kernel::call(SYS_write, to, &buffer[sent], got - sent);
            if (written == -EINTR) continue;
            if (written < 0) return;
            sent += written;
        }
        at += got;
    }
}

// To our stdout and stderr.
WHEELYARD_KERNEL_CALL void show_output(const OutputFiles& files) {
    if (files.out >= 0) copy_file_to(files.out, STDOUT_FILENO);
    if (files.err >= 0) copy_file_to(files.err, STDERR_FILENO);
}

// `text` into a file of the kernel's; what it refuses goes on without.
WHEELYARD_KERNEL_CALL void tell_kernel(const char* path, const char* text, long size) {
    const long fd = kernel::call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)kernel::call(SYS_write, fd, text, size);
    (void)kernel::call(SYS_close, fd);
}

// In the child: a process group of its own, the end with `parent` (its process's number), no blocked signal,
// its output into `files`, the kernel's first choice when memory ends, and the cgroup whose cgroup.procs is
// `group` ("": stays in ours).
WHEELYARD_KERNEL_CALL void prepare_compiler(long parent, const OutputFiles& files, const char* group) {
    (void)kernel::call(SYS_setpgid, 0, 0);
    (void)kernel::call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (kernel::call(SYS_getppid) != parent) kernel::end_process(127);
    const unsigned long none = 0;
    (void)kernel::call(SYS_rt_sigprocmask, SIG_SETMASK, &none, nullptr, sizeof none);
    if (files.out >= 0) (void)kernel::call(SYS_dup3, files.out, STDOUT_FILENO, 0);
    if (file_for_err(files) >= 0) (void)kernel::call(SYS_dup3, file_for_err(files), STDERR_FILENO, 0);
    // Raising one's own score needs no right (proc(5)); the broker and the build tool keep theirs. Without it
    // the kernel only chooses less well.
    tell_kernel("/proc/self/oom_score_adj", "500", 3);
    // Tried when the build began, so only a passing fault keeps us out.
    if (group[0] != '\0') tell_kernel(group, "0", 1);
}

}  // namespace wheelyard::governor
