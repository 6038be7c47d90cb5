// The largest process of a build.
#include "builder/governor/memory/process_tree.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "builder/governor/memory/limits.hpp"

using namespace wheelyard::governor;

namespace {

// A child named `name` that holds `size` bytes and waits to be killed.
class Child {
  public:
    Child(const char* name, std::size_t size) {
        int ready[2];
        REQUIRE(::pipe(ready) == 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_NAME, name);
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            const std::string taken(size, 'x');
            if (::write(ready[1], &taken.back(), 1) == 1) ::pause();
            ::_exit(0);
        }
        char byte = 0;
        CHECK(::read(ready[0], &byte, 1) == 1);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    [[nodiscard]] pid_t pid() const { return pid_; }

  private:
    pid_t pid_ = 0;
};

}  // namespace

TEST_CASE("the largest process is found by its peak, below any thread, and not in the trees of compiles") {
    constexpr std::size_t small = 64 * mib, large = 200 * mib;
    const Child rustc("rustc", small);
    CHECK(largest_process(::getpid(), {}).name == "rustc");
    CHECK(largest_process(::getpid(), {}).bytes >= static_cast<double>(small));
    std::thread([] {
        const Child linker("ld.lld", large);
        const auto found = largest_process(::getpid(), {});
        CHECK(found.name == "ld.lld");
        CHECK(found.bytes >= static_cast<double>(large));
        CHECK(largest_process(::getpid(), {linker.pid()}).name == "rustc");
    }).join();
    CHECK(largest_process(::getpid(), {rustc.pid()}).bytes == 0);
}
