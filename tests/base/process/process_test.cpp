// Child processes: captured, bounded, killed at the timeout, or under a reaper.
#include "lib/base/process/process.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "lib/base/clock.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/becomes_true.hpp"

using namespace wheelyard::base;

namespace {

using Settings = std::map<std::string, std::string>;

Command shell(const std::string& script) {
    return {.argv = {"sh", "-c", script}};
}

}  // namespace

TEST_CASE("a program's output, errors and exit code are captured separately") {
    const auto finished = run_command(shell("echo out; echo err >&2; exit 7")).value();
    CHECK(finished.exit_code == 7);
    CHECK(finished.out == "out\n");
    CHECK(finished.err == "err\n");
    CHECK_FALSE(finished.timed_out);
    CHECK(run_command(shell("kill -TERM $$")).value().exit_code == 128 + SIGTERM);
}

TEST_CASE("standard input has the command's bytes and then ends") {
    auto command = Command{.argv = {"cat"}};
    CHECK(run_command(command).value().out.empty());
    command.input = std::string(300'000, 'x');
    CHECK(run_command(command).value().out == command.input);
    command.argv = {"true"};  // does not read its input
    CHECK(run_command(command).value().exit_code == 0);
}

TEST_CASE("output beyond the limit is discarded while the program continues") {
    auto command = shell("head -c 500000 /dev/zero; head -c 400000 /dev/zero >&2; exit 3");
    command.output_limit_bytes = 1000;
    const auto finished = run_command(command).value();
    CHECK(finished.out.size() == 1000);
    CHECK(finished.err.size() == 1000);
    CHECK(finished.exit_code == 3);
}

TEST_CASE("a failure is never reported as success, even where children's statuses are lost") {
    struct sigaction ignore {};
    struct sigaction before {};
    ignore.sa_handler = SIG_IGN;
    REQUIRE(::sigaction(SIGCHLD, &ignore, &before) == 0);
    const auto finished = run_command(shell("exit 3"));
    REQUIRE(::sigaction(SIGCHLD, &before, nullptr) == 0);
    CHECK(finished.value().exit_code != 0);
}

TEST_CASE("the timeout kills the program and its children") {
    const auto dir = TempDir::make("process").value();
    auto command = shell("sleep 1000 & echo $! > child.tmp; mv child.tmp child; wait");
    command.directory = dir.path();
    // Increase the timeout on a busy machine until the child has started.
    for (command.timeout_ms = 300; command.timeout_ms < 100'000 && !fs::exists(dir.path() / "child");
         command.timeout_ms *= 2) {
        const auto finished = run_command(command).value();
        CHECK(finished.timed_out);
        CHECK(finished.exit_code == 128 + SIGKILL);
    }
    const auto child = parse_decimal(trim(read_file(dir.path() / "child", 100).value()));
    REQUIRE(child);
    CHECK(wheelyard::test_support::becomes_true(
        [&] { return process_start_time(static_cast<std::int64_t>(*child)) == 0; }));
}

TEST_CASE("a program that closes its output is still waited for, and still killed at the timeout") {
    CHECK(run_command(shell("exec >&- 2>&-; sleep 0.1; exit 5")).value().exit_code == 5);
    auto command = shell("exec >&- 2>&-; exec sleep 1000");
    command.timeout_ms = 200;
    CHECK(run_command(command).value().timed_out);
}

TEST_CASE("a child that keeps the output open does not delay the end") {
    auto command = shell("sleep 1000 & echo $!");
    command.timeout_ms = 120'000;  // would also kill the child
    const auto finished = run_command(command).value();
    CHECK_FALSE(finished.timed_out);
    const auto helper = parse_decimal(trim(finished.out));
    REQUIRE(helper);
    CHECK(::kill(static_cast<pid_t>(*helper), SIGKILL) == 0);
}

TEST_CASE("a program that cannot be started is an error that names it") {
    CHECK(run_command({.argv = {}}).error().code == "process.not_found");
    CHECK(run_command({.argv = {"no-such-program-here"}}).error().code == "process.not_found");
    CHECK(run_command({.argv = {"/no/such/program"}}).error().code == "os.ENOENT");
    CHECK(run_command({.argv = {"/etc/passwd"}}).error().code == "os.EACCES");
    const auto error = run_command({.argv = {"true"}, .directory = "/no/such/folder"}).error();
    CHECK(error.code == "os.ENOENT");
    CHECK(error.value == "/no/such/folder");
}

TEST_CASE("environment and folder are those of the command") {
    auto command = shell("echo $A-$HOME; pwd");
    command.environment = Settings{{"A", "1"}, {"PATH", "/usr/bin:/bin"}};
    command.directory = "/";
    CHECK(run_command(command).value().out == "1-\n/\n");
    command.environment = Settings{{"A", "2"}};  // the program is found on our PATH
    CHECK(run_command(command).value().out == "2-\n/\n");
    command.environment = Settings{};
    (*command.environment)["PATH"] = "/nowhere";
    CHECK(run_command(command).error().code == "process.not_found");
}

TEST_CASE("a child gets none of our descriptors, no blocked signals, and default SIGPIPE") {
    const auto dir = TempDir::make("process").value();
    const auto ours = create_new(dir.path() / "ours");
    REQUIRE(ours);
    const auto listing = run_command({.argv = {"ls", "-l", "/proc/self/fd"}}).value().out;
    CHECK(listing.find("/dev/null") != std::string::npos);
    CHECK(listing.find(dir.path().native()) == std::string::npos);
    sigset_t pipe_only, before;
    ::sigemptyset(&pipe_only);
    ::sigaddset(&pipe_only, SIGPIPE);
    ::sigprocmask(SIG_BLOCK, &pipe_only, &before);
    const auto status =
        run_command({.argv = {"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}}).value().out;
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    for (const auto line : split_lines(status))
        CHECK(line.ends_with("0000000000000000"));
}

TEST_CASE("a program under a reaper leads its own session, writes to its log and is not our child") {
    const auto dir = TempDir::make("process").value();
    const auto log = dir.path() / "log";
    REQUIRE(replace_file(log, "before\n"));
    const auto pid = start_reaped(shell("echo out; echo err >&2; exec sleep 1000"), log).value();
    CHECK(process_start_time(pid) != 0);
    CHECK(::getsid(static_cast<pid_t>(pid)) == pid);
    CHECK(::getpgid(static_cast<pid_t>(pid)) == pid);
    CHECK(
        wheelyard::test_support::becomes_true([&] { return read_file(log, 1000) == "before\nout\nerr\n"; }));
    const auto parent = run_command({.argv = {"ps", "-o", "ppid=", "-p", std::to_string(pid)}});
    if (parent && parent->exit_code == 0)
        CHECK(parse_decimal(trim(parent->out)) != static_cast<std::uint64_t>(::getpid()));
    CHECK(::kill(static_cast<pid_t>(-pid), SIGKILL) == 0);
    CHECK(wheelyard::test_support::becomes_true([&] { return process_start_time(pid) == 0; }));
}

TEST_CASE("a program under a reaper keeps no pipe open, not even an inheritable one") {
    const auto dir = TempDir::make("process").value();
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const auto pid = start_reaped({.argv = {"sleep", "1000"}}, dir.path() / "log").value();
    ::close(ends[1]);
    pollfd polled{ends[0], POLLIN, 0};
    CHECK(::poll(&polled, 1, 60'000) == 1);
    char byte = 0;
    CHECK(::read(ends[0], &byte, 1) == 0);
    ::close(ends[0]);
    CHECK(::kill(static_cast<pid_t>(-pid), SIGKILL) == 0);
}

TEST_CASE("a program under a reaper that cannot start is reported immediately") {
    const auto dir = TempDir::make("process").value();
    CHECK(start_reaped({.argv = {"no-such-program-here"}}, dir.path() / "log").error().code ==
          "process.not_found");
    CHECK(start_reaped({.argv = {"/etc/passwd"}}, dir.path() / "log").error().code == "os.EACCES");
    CHECK(start_reaped({.argv = {"true"}, .directory = "/no/such"}, dir.path() / "log").error().value ==
          "/no/such");
    CHECK(start_reaped({.argv = {"true"}}, dir.path() / "absent/log").error().code == "os.ENOENT");
}

TEST_CASE("programs are found on PATH, and the environment is readable") {
    CHECK(find_program("sh"));
    CHECK(find_program("sh")->is_absolute());
    CHECK(find_program("/bin/sh") == fs::path("/bin/sh"));
    CHECK_FALSE(find_program("no-such-program-here"));
    CHECK_FALSE(find_program(""));
    CHECK_FALSE(find_program("/etc"));
    CHECK(current_environment().contains("PATH"));
}
