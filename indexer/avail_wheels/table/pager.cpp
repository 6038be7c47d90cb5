// Pipes text into the pager's standard input; the pager inherits our standard output.
#include "indexer/avail_wheels/table/table.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/file.hpp"

namespace wheelyard::avail_wheels {

namespace {

constexpr int exit_not_started = 127;

std::string setting(const EnvironmentMap& environment, const char* name, const char* fallback) {
    const auto found = environment.find(name);
    return found == environment.end() ? fallback : found->second;
}

}  // namespace

std::size_t terminal_rows() {
    struct winsize size {};
    if (::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
    return size.ws_row;
}

bool show_in_pager(const std::string& text, const EnvironmentMap& environment) {
    const std::string pager = setting(environment, "PAGER", "less");
    if (pager.empty() || pager == "cat") return false;
    const std::string less = setting(environment, "LESS", "FRX");
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return false;
    base::Fd read_end(ends[0]);
    base::Fd write_end(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) {
        ::dup2(read_end.get(), STDIN_FILENO);
        read_end.reset();
        write_end.reset();
        ::signal(SIGPIPE, SIG_DFL);  // main() ignores it; a pipeline must end quietly when it is left early
        ::setenv("LESS", less.c_str(), 1);
        ::execl("/bin/sh", "sh", "-c", pager.c_str(), static_cast<char*>(nullptr));
        ::_exit(exit_not_started);
    }
    read_end.reset();
    (void)base::write_all(write_end.get(), text);  // the user may quit the pager early
    write_end.reset();
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return !(WIFEXITED(status) && WEXITSTATUS(status) == exit_not_started);
}

}  // namespace wheelyard::avail_wheels
