// Commands, called like main does.
#include "builder/commands.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iterator>

#include "builder/agent/agent.hpp"
#include "builder/tick_until.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/redirected.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// The exit status of a command, its output and its errors.
struct Printed {
    int status = -1;
    std::string out, err;
};

Printed run(int (*command)(const Arguments&), const Arguments& arguments) {
    const base::TempDir folder = *base::TempDir::make("printed");
    Printed printed;
    {
        const test_support::Redirected out(STDOUT_FILENO, folder.path() / "out");
        const test_support::Redirected err(STDERR_FILENO, folder.path() / "err");
        printed.status = command(arguments);
    }
    printed.out = testing::read(folder.path() / "out");
    printed.err = testing::read(folder.path() / "err");
    return printed;
}

// A site without a Python; returns its file.
fs::path write_site(const fs::path& folder) {
    testing::write(folder / "recipes/demo.toml",
                   "config_version = 1\npackage = \"demo\"\n[source]\nkind = \"path\"\npath = \"demo\"\n");
    testing::write(
        folder / "site.toml",
        "config_version = 1\nname = \"t\"\nrecipes = [\"recipes\"]\n[state]\ndirectory = \"state\"\n"
        "[work]\ndirectory = \"work\"\n[[python]]\nversion = \"3.99\"\nexecutable = \"python3\"\n"
        "[governor]\nuse = false\n[[want]]\npackage = \"demo\"\nversions = [\"1.0\"]\n");
    return folder / "site.toml";
}

TEST_CASE("`tick --stay` succeeds at once while another tick runs") {
    const base::TempDir folder = *base::TempDir::make("commands");
    Arguments arguments;
    arguments.site = write_site(folder.path());
    const Journal journal(folder.path() / "state");
    testing::must(journal.prepare());
    base::SystemClock clock;
    const auto held = base::LockFile::acquire(journal.lock_file(), clock, lock_stale_after_ms);
    REQUIRE(held.has_value());
    arguments.stay = true;
    const Printed printed = run(run_tick, arguments);
    CHECK(printed.status == 0);
    CHECK(printed.out.find("Process " + std::to_string(::getpid()) + " on " + base::host_name() +
                           " has held this lock since ") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "work"));
}

TEST_CASE("`run` ticks the less often the longer nothing has changed") {
    CHECK(next_tick_ms(-5'000) == run_poll_ms);  // the clock was set back
    CHECK(next_tick_ms(0) == run_poll_ms);
    CHECK(next_tick_ms(60'000) == 3'000);
    CHECK(next_tick_ms(5 * 3'600'000) == max_run_poll_ms);
}

TEST_CASE("a command whose site file is missing prints nothing but an error that names the file") {
    const base::TempDir folder = *base::TempDir::make("commands");
    Arguments arguments;
    arguments.site = folder.path() / "site.toml";
    arguments.name = "cell";
    for (const auto command :
         {run_plan, run_site_check, run_site_user_files, run_run, run_tick, run_status, run_explain, run_logs,
          run_retry, run_reproduce, run_cancel, run_cron_line, run_scrontab_line}) {
        const Printed printed = run(command, arguments);
        CHECK(printed.status == 2);
        CHECK(printed.out.empty());
        CHECK(printed.err.find(arguments.site.string()) != std::string::npos);
    }
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 0);
}

TEST_CASE("`explain` takes any part of a cell's name that has no attempt yet") {
    const base::TempDir folder = *base::TempDir::make("commands");
    Arguments arguments;
    arguments.site = write_site(folder.path());
    for (const char* name : {"demo", "Demo_1.0", "demo-1.0-3.99"}) {
        arguments.name = name;
        const Printed printed = run(run_explain, arguments);
        CAPTURE(printed.err);
        CHECK(printed.status == 0);
        CHECK(printed.out.find("demo-1.0-3.99") != std::string::npos);
    }
    arguments.name = "nosuch";
    CHECK(run(run_explain, arguments).status == 1);
}

TEST_CASE("`site user-files` writes the files that it lists, and `cron-line` makes the folder of its log") {
    const base::TempDir folder = *base::TempDir::make("commands");
    Arguments arguments;
    arguments.site = fs::path(WHEELYARD_TEST_DATA) / "../site-configs/debian12/site.toml";
    arguments.to = folder.path() / "files";
    const Printed files = run(run_site_user_files, arguments);
    CHECK(files.status == 0);
    CHECK(!files.out.empty());
    for (const auto line : base::split_lines(files.out))
        CHECK_MESSAGE(fs::exists(line.substr(0, line.find("  "))), line);
    arguments.site = write_site(folder.path());
    const Printed line = run(run_cron_line, arguments);
    CHECK(line.status == 0);
    CHECK(line.out.find(arguments.site.string()) != std::string::npos);
    CHECK(fs::is_directory(folder.path() / "state"));
}

TEST_CASE("a reproduction of what no attempt has built fails and begins nothing") {
    const base::TempDir folder = *base::TempDir::make("commands");
    Arguments arguments;
    arguments.site = write_site(folder.path());
    arguments.name = "nosuch";
    const Printed printed = run(run_reproduce, arguments);
    CHECK(printed.status == 1);
    CHECK(printed.out.empty());
    CHECK(printed.err.find("nosuch") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "work"));
}

TEST_CASE("`doctor -` ends at the end of standard input, also after a read that a signal interrupted") {
    const base::TempDir folder = *base::TempDir::make("commands");
    testing::write(folder.path() / "log", "x.c:1:10: fatal error: hdf5.h: No such file or directory\n");
    const test_support::Redirected input(STDIN_FILENO, folder.path() / "log");
    Arguments arguments;
    arguments.name = "-";
    const Printed printed = run(
        [](const Arguments& given) {
            errno = EINTR;
            return run_doctor(given);
        },
        arguments);
    CHECK(printed.status == 1);
    CHECK(printed.out.find("compiler.missing_header") != std::string::npos);
    CHECK(printed.out.find("(standard input):1") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
