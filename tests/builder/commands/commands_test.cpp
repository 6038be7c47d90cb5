// Commands, called like main does.
#include "builder/commands/commands.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iterator>

#include "builder/agent/agent.hpp"
#include "builder/commands/tick_until.hpp"
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

template <typename Command, typename Options>
Printed run(Command command, const Options& options) {
    const base::TempDir folder = *base::TempDir::make("printed");
    Printed printed;
    {
        const test_support::Redirected out(STDOUT_FILENO, folder.path() / "out");
        const test_support::Redirected err(STDERR_FILENO, folder.path() / "err");
        printed.status = command(options);
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
    TickOptions options;
    options.site = write_site(folder.path());
    const Journal journal(folder.path() / "state");
    testing::must(journal.prepare());
    base::SystemClock clock;
    const auto held = base::LockFile::acquire(journal.lock_file(), clock, lock_stale_after_ms);
    REQUIRE(held.has_value());
    options.stay = true;
    const Printed printed = run(run_tick, options);
    CHECK(printed.status == 0);
    CHECK(printed.out.find("Process " + std::to_string(::getpid()) + " on " + base::host_name() +
                           " has held this lock since ") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "work"));
}

TEST_CASE("`run` ticks the less often the longer nothing has changed") {
    CHECK(next_tick_ms(-5'000, false) == run_poll_ms);  // the clock was set back
    CHECK(next_tick_ms(0, false) == run_poll_ms);
    CHECK(next_tick_ms(60'000, false) == 3'000);
    CHECK(next_tick_ms(5 * 3'600'000, false) == max_run_poll_ms);
    // A batch system is shared with all users of its cluster.
    CHECK(next_tick_ms(0, true) == batch_poll_ms);
    CHECK(next_tick_ms(5 * 60'000, true) == 15'000);
    CHECK(next_tick_ms(5 * 3'600'000, true) == 60'000);
}

TEST_CASE("a command whose site file is missing prints nothing but an error that names the file") {
    const base::TempDir folder = *base::TempDir::make("commands");
    const fs::path site = folder.path() / "site.toml";
    const auto check = [&](auto command, auto options) {
        options.site = site;
        const Printed printed = run(command, options);
        CHECK(printed.status == 2);
        CHECK(printed.out.empty());
        CHECK(printed.err.find(site.string()) != std::string::npos);
    };
    for (const auto command : {run_run, run_tick})
        check(command, TickOptions());
    for (const auto command : {run_explain, run_reproduce})
        check(command, CellOptions());
    for (const auto command : {run_cron_line, run_scrontab_line, run_notify, run_enrol, run_logout})
        check(command, SiteOptions());
    check(run_plan, PlanOptions());
    check(run_site_check, CheckOptions());
    check(run_site_user_files, UserFilesOptions());
    check(run_status, StatusOptions());
    check(run_logs, LogsOptions());
    RetryOptions retry;
    retry.cell = "cell";
    check(run_retry, retry);
    check(run_retest, RetestOptions());
    check(run_cancel, CancelOptions());
    check(run_login, LoginOptions());
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 0);
}

TEST_CASE("`explain` takes any part of a cell's name that has no attempt yet") {
    const base::TempDir folder = *base::TempDir::make("commands");
    CellOptions options;
    options.site = write_site(folder.path());
    for (const char* name : {"demo", "Demo_1.0", "demo-1.0-3.99"}) {
        options.cell = name;
        const Printed printed = run(run_explain, options);
        CAPTURE(printed.err);
        CHECK(printed.status == 0);
        CHECK(printed.out.find("demo-1.0-3.99") != std::string::npos);
    }
    options.cell = "nosuch";
    CHECK(run(run_explain, options).status == 1);
}

TEST_CASE("`plan --script` of a cell that has no job says why, and prints no script") {
    const base::TempDir folder = *base::TempDir::make("commands");
    PlanOptions options;
    options.site = write_site(folder.path());
    for (const auto& [name, reason] : {std::pair("Demo", "demo-1.0-3.99: impossible, "),
                                       std::pair("nosuch", "The plan has no cell of this name")}) {
        options.script = name;
        const Printed printed = run(run_plan, options);
        CAPTURE(printed.err);
        CHECK(printed.status == 1);
        CHECK(printed.out.empty());
        CHECK(printed.err.find(reason) != std::string::npos);
    }
}

TEST_CASE("`site user-files` writes the files that it lists, and `cron-line` makes the folder of its log") {
    const base::TempDir folder = *base::TempDir::make("commands");
    UserFilesOptions options;
    options.site = fs::path(WHEELYARD_TEST_DATA) / "../site-configs/debian12/site.toml";
    options.to = folder.path() / "files";
    const Printed files = run(run_site_user_files, options);
    CHECK(files.status == 0);
    CHECK(!files.out.empty());
    for (const auto line : base::split_lines(files.out))
        CHECK_MESSAGE(fs::exists(line.substr(0, line.find("  "))), line);
    const SiteOptions of_site{write_site(folder.path())};
    const Printed line = run(run_cron_line, of_site);
    CHECK(line.status == 0);
    CHECK(line.out.find(of_site.site.string()) != std::string::npos);
    CHECK(fs::is_directory(folder.path() / "state"));
}

TEST_CASE("a reproduction of what no attempt has built fails and begins nothing") {
    const base::TempDir folder = *base::TempDir::make("commands");
    CellOptions options;
    options.site = write_site(folder.path());
    options.cell = "nosuch";
    const Printed printed = run(run_reproduce, options);
    CHECK(printed.status == 1);
    CHECK(printed.out.empty());
    CHECK(printed.err.find("nosuch") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "work"));
}

TEST_CASE("`doctor -` ends at the end of standard input, also after a read that a signal interrupted") {
    const base::TempDir folder = *base::TempDir::make("commands");
    testing::write(folder.path() / "log", "x.c:1:10: fatal error: hdf5.h: No such file or directory\n");
    const test_support::Redirected input(STDIN_FILENO, folder.path() / "log");
    DoctorOptions options;
    options.log = "-";
    const Printed printed = run(
        [](const DoctorOptions& given) {
            errno = EINTR;
            return run_doctor(given);
        },
        options);
    CHECK(printed.status == 1);
    CHECK(printed.out.find("compiler.missing_header") != std::string::npos);
    CHECK(printed.out.find("(standard input):1") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
