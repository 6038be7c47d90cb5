// Starts compilers and interprets how they ended.
#include "builder/governor/launch/compiler_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::governor {
namespace {

// What GCC, Clang, nvcc, ld and make print when a subprocess was killed or could not allocate memory, in small letters.
constexpr std::array clues = {"killed signal terminated program",   // gcc of cc1
                              "terminated with signal 9",           // collect2 of ld, lto-wrapper of gcc
                              "died due to signal 9",               // nvcc
                              "terminated by signal 9",             // nvc++
                              "terminated by kill signal",          // ifort, ifx
                              "unable to execute command: killed",  // clang
                              "signal: killed",                     // go
                              "signal: 9, sigkill",                 // rustc
                              "ld returned 137 exit status",        // a wrapper of ld
                              "memory exhausted",
                              "out of memory",
                              "cannot allocate memory",
                              "std::bad_alloc"};

// For execvp(3), which does not modify the strings.
std::vector<char*> argv_of(const std::vector<std::string>& command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const auto& word : command)
        argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    return argv;
}

}  // namespace

pid_t start_compiler(const std::vector<std::string>& command, const Spool& spool, const std::string& group) {
    auto argv = argv_of(command);
    const pid_t parent = ::getpid();
    // Until exec the child shares our memory, which is not copied. It makes only system calls; its
    // descriptors, signal mask and oom_score_adj are its own (vfork(2)).
    // NOLINTBEGIN(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
    const pid_t pid = ::vfork();
    if (pid != 0) {
        if (pid > 0) ::setpgid(pid, pid);  // in the child too: neither may run before it is set
        return pid;
    }
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (spool.out() >= 0) ::dup2(spool.out(), STDOUT_FILENO);
    if (spool.err() >= 0) ::dup2(spool.err(), STDERR_FILENO);
    // Raising one's own score needs no privilege (proc(5)); the broker and the build tool keep theirs.
    if (const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); fd >= 0) {
        if (::write(fd, "500", 3) < 0) errno = 0;  // without it the kernel may choose another victim
        ::close(fd);
    }
    if (!group.empty()) {
        if (const int fd = ::open(group.c_str(), O_WRONLY | O_CLOEXEC); fd >= 0) {
            if (::write(fd, "0", 1) < 0) errno = 0;  // make() checked this, so it fails rarely
            ::close(fd);
        }
    }
    ::execvp(argv[0], argv.data());
    const int why = errno;
    const char* reason = ::strerror(why);
    for (const char* part :
         {"wheelyard-governor: cannot run ", static_cast<const char*>(argv[0]), ": ", reason, "\n"}) {
        if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
    }
    ::_exit(why == ENOENT ? 127 : 126);
    // NOLINTEND(clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
}

bool looks_killed_by_memory(int wait_status, std::string_view output) {
    if (WIFSIGNALED(wait_status)) return WTERMSIG(wait_status) == SIGKILL;
    if (!WIFEXITED(wait_status) || WEXITSTATUS(wait_status) == 0) return false;
    if (WEXITSTATUS(wait_status) == 128 + SIGKILL) return true;
    const std::string text = base::ascii_lower(output);
    return std::any_of(clues.begin(), clues.end(),
                       [&](std::string_view clue) { return text.find(clue) != std::string::npos; });
}

bool is_ignored(int signal_number) {
    struct sigaction action {};
    return ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void become(const std::vector<std::string>& command) {
    auto argv = argv_of(command);
    ::execvp(argv[0], argv.data());
    const int why = errno;
    base::print(stderr, "wheelyard-governor: cannot run %s: %s\n", argv[0], ::strerror(why));
    ::_exit(why == ENOENT ? 127 : 126);
}

void exit_like(int wait_status) {
    if (WIFSIGNALED(wait_status)) {
        const int number = WTERMSIG(wait_status);
        const rlimit no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);  // the compiler may have dumped core already
        ::signal(number, SIG_DFL);
        sigset_t only;
        ::sigemptyset(&only);
        ::sigaddset(&only, number);
        ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
        ::raise(number);
        ::_exit(128 + number);
    }
    ::_exit(WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 1);
}

}  // namespace wheelyard::governor
