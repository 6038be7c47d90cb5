// The program that ccache runs before a compiler.
#include "builder/governor/launch/compiler_cache.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "builder/governor/launch/shims.hpp"

namespace wheelyard::governor {
namespace {

// Whether the program that looks a compile up ends its parent, which waits as long as that program lives.
bool miss_ends_parent(bool parent_is_this_program) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const pid_t parent = ::fork();
    REQUIRE(parent >= 0);
    if (parent == 0) {
        ::signal(SIGTERM, SIG_DFL);
        const std::string exe = "/proc/" + std::to_string(::getpid()) + "/exe";
        if (::fork() == 0) {
            std::error_code error;
            while (!parent_is_this_program && std::filesystem::read_symlink(exe, error) == own_program())
                ::sched_yield();
            ::setenv("WHEELYARD_GOVERNOR_ASKS_CACHE", "1", 1);
            run_cache_miss({});
        }
        ::close(ends[1]);
        ::dup2(ends[0], STDIN_FILENO);
        if (!parent_is_this_program) ::execlp("cat", "cat", nullptr);
        char byte = 0;
        ::_exit(parent_is_this_program && ::read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 127);
    }
    for (const int end : ends)
        ::close(end);
    int status = 0;
    REQUIRE(::waitpid(parent, &status, 0) == parent);
    if (WIFSIGNALED(status)) return WTERMSIG(status) == SIGTERM;
    CHECK(WEXITSTATUS(status) == 0);
    return false;
}

TEST_CASE("a miss of a lookup ends ccache, and spares the launcher, of which ccache became this program") {
    CHECK(miss_ends_parent(false));
    CHECK(!miss_ends_parent(true));
}

}  // namespace
}  // namespace wheelyard::governor
