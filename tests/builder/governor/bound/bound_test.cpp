// Commands that exceed a limit, or leave something behind; uploaded_sources_test.py does the same in namespaces.
#include "builder/governor/bound/bound.hpp"

#include <doctest/doctest.h>
#include <linux/keyctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

using namespace wheelyard::governor;
namespace base = wheelyard::base;

namespace {

struct Ended {
    int status = 0;
    std::string out;
};

// In a process of its own, as the program does: it adopts orphans and waits for every child.
Ended run_bash(const Bounds& bounds, const std::string& script) {
    const auto folder = *base::TempDir::make("bound");
    const std::string log = (folder.path() / "log").string();
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (std::freopen(log.c_str(), "w", stdout) == nullptr ||
            std::freopen(log.c_str(), "a", stderr) == nullptr)
            ::_exit(99);
        const int status = run_bounded(bounds, {"/bin/bash", "-c", script});
        std::fflush(nullptr);
        ::_exit(status);
    }
    int status = 0;
    REQUIRE(::waitpid(pid, &status, 0) == pid);
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status), *base::read_file(log, base::mib)};
}

bool says(const Ended& ended, const std::string& what) {
    CAPTURE(ended.out);
    CHECK(ended.out.find(what) != std::string::npos);
    return ended.out.find(what) != std::string::npos;
}

Bounds with_disk(const base::TempDir& folder, std::uint64_t bytes) {
    Bounds bounds;
    bounds.folder = folder.path();
    bounds.disk_bytes = bytes;
    return bounds;
}

}  // namespace

TEST_CASE("what stays within its limits keeps its output and its exit status") {
    Bounds bounds;
    bounds.processes = 100;
    bounds.memory_bytes = base::gib;
    bounds.seconds = 600;
    const Ended ended = run_bash(bounds, "echo out; echo err >&2; exit 7");
    CHECK(ended.status == 7);
    says(ended, "out\nerr\n");
    CHECK(run_bash(bounds, "kill -KILL $$").status == 128 + SIGKILL);
}

TEST_CASE("what waits for ever is ended, and what computes or prints is not") {
    const auto folder = *base::TempDir::make("bound");
    Bounds idle;
    idle.idle_seconds = 4;
    const std::string fifo = "'" + (folder.path() / "a.whl").string() + "'";
    const Ended waiting = run_bash(idle, "mkfifo " + fifo + "; cat " + fifo + " & wait");
    CHECK(waiting.status == over_limit_exit_code);
    says(waiting, std::string(over_limit_line) + " more time without output and CPU than its limit of 4.0 s");
    CHECK(run_bash(idle, "for i in 1 2 3 4 5; do echo $i; sleep 1; done").status == 0);
    // Children that end take their time with them to who waits for them.
    CHECK(
        run_bash(idle,
                 "end=$((SECONDS + 5)); while ((SECONDS < end)); do (for i in {1..20000}; do :; done); done")
            .status == 0);
}

TEST_CASE("each limit ends everything, and is named") {
    const auto folder = *base::TempDir::make("bound");
    struct Row {
        std::string what;
        Bounds bounds;
        std::string script;
        std::string says;
    };
    Bounds processes, memory, seconds, machine;
    machine.memory_bytes = base::gib;
    machine.machine_keeps_bytes = UINT64_MAX;
    processes.processes = 20;
    memory.memory_bytes = 100 * base::mib;
    seconds.seconds = 1;
    const std::string in = "cd '" + folder.path().string() + "'\n";
    const Row rows[] = {
        {"processes", processes, "for i in $(seq 30); do sleep 600 & done; wait",
         "more processes and threads"},
        {"memory", memory, "x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 600", "more memory"},
        {"memory that no process shows", machine, "sleep 600", "out of memory: its machine has less than"},
        {"time", seconds, "sleep 600", "more time"},
        {"disk", with_disk(folder, base::mib),
         in + "for i in 1 2 3; do head -c 500000 /dev/zero > f$i; done; sleep 600", "more disk"},
        {"disk of a command that ends before the next walk", with_disk(folder, base::mib),
         in + "for i in 1 2 3; do head -c 500000 /dev/zero > f$i; done", "more disk"},
        {"disk in a folder without permissions", with_disk(folder, base::mib),
         in + "mkdir d; for i in 1 2 3; do head -c 500000 /dev/zero > d/f$i; done; chmod 0 d; sleep 600",
         "more disk"},
        {"disk of a deleted file", with_disk(folder, base::mib),
         in + "exec 3> f; exec 4> g; rm f g; head -c 900000 /dev/zero >&3; head -c 900000 /dev/zero >&4; "
              "sleep 600",
         "more disk"},
        {"folders that the walk does not reach", with_disk(folder, base::gib),
         in + "for i in $(seq 300); do mkdir d; cd d; done; sleep 600", "more folders in one another"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const Ended ended = run_bash(row.bounds, row.script);
        CHECK(ended.status == over_limit_exit_code);
        says(ended, std::string(over_limit_line) + " " + row.says);
        base::Command clean;
        clean.argv = {"/bin/bash", "-c", in + "chmod -R u+rwx . && rm -rf ./*"};
        CHECK(base::run_command(clean)->exit_code == 0);
    }
}

TEST_CASE("the kernel holds between two samples: files have the disk's size, the user a number of threads") {
    const auto folder = *base::TempDir::make("bound");
    Bounds bounds = with_disk(folder, 100 * base::mib);
    bounds.processes = 50;
    const Ended ended =
        run_bash(bounds, "ulimit -Hf; ulimit -Hc; ulimit -Hu; cat /proc/self/oom_score_adj; ulimit -Hn");
    CAPTURE(ended.out);
    const auto lines = base::split_lines(ended.out);
    REQUIRE(lines.size() >= 5);
    CHECK(lines[0] == "102400");
    CHECK(lines[1] == "0");
    const auto threads = base::parse_decimal(lines[2]);
    REQUIRE(threads.has_value());
    CHECK(*threads >= 2 * bounds.processes);
    CHECK(lines[3] == "1000");
    const auto descriptors = base::parse_decimal(lines[4]);
    REQUIRE(descriptors.has_value());
    CHECK(*descriptors <= max_descriptors);
}

TEST_CASE("a command has a session keyring of its own") {
    const long ours = ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1);
    if (ours < 0) return;  // this machine has none
    const Ended ended =
        run_bash({}, "python3 -c 'import ctypes; print(\"keyring\", ctypes.CDLL(None).syscall(" +
                         std::to_string(SYS_keyctl) + ", " + std::to_string(KEYCTL_GET_KEYRING_ID) + ", " +
                         std::to_string(KEY_SPEC_SESSION_KEYRING) + ", 0))'");
    CHECK(ended.status == 0);
    REQUIRE(says(ended, "keyring "));
    CHECK(ended.out.find("keyring " + std::to_string(ours) + "\n") == std::string::npos);
}

TEST_CASE("what a command leaves behind ends with it, and holds no output") {
    const auto folder = *base::TempDir::make("bound");
    const std::string mark = (folder.path() / "pid").string();
    const Ended ended = run_bash({}, "setsid bash -c 'echo $$ > " + mark + "; sleep 600' & while ! test -s " +
                                         mark + "; do sleep 0.01; done; echo done");
    CHECK(ended.status == 0);
    says(ended, "done\n");
    const auto pid = base::parse_decimal(base::trim(*base::read_file(mark, 100)));
    REQUIRE(pid.has_value());
    CHECK(::kill(static_cast<pid_t>(*pid), 0) != 0);
}

TEST_CASE("a program goes on that reads what a left-behind process holds") {
    Bounds bounds;
    bounds.left_behind_s = 3;
    const Ended ended = run_bash(bounds, "got=$( (setsid sleep 600 &); echo out); echo \"it says $got\"");
    CHECK(ended.status == 0);
    says(ended, "sleep was left behind and held the output that bash reads");
    says(ended, "it says out\n");
}

TEST_CASE("a request to end ends everything") {
    const Ended ended = run_bash({}, "setsid sleep 600 & kill -TERM $PPID; sleep 600");
    CHECK(ended.status == 128 + SIGTERM);
}
