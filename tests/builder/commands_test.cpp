// Commands, called like main does.
#include "builder/commands.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>

#include "builder/agent/limits.hpp"
#include "lib/base/files/fd.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// The output of a command and its exit status.
struct Printed {
    int status;
    std::string out;
};

Printed run(int (*command)(const Arguments&), const Arguments& arguments, const fs::path& folder) {
    std::fflush(stdout);
    const base::Fd saved(::dup(STDOUT_FILENO));
    const auto file = base::create_new(folder / "printed");
    REQUIRE(file.has_value());
    REQUIRE(::dup2(file->get(), STDOUT_FILENO) >= 0);
    const int status = command(arguments);
    std::fflush(stdout);
    REQUIRE(::dup2(saved.get(), STDOUT_FILENO) >= 0);
    return {status, testing::read(folder / "printed")};
}

TEST_CASE("`tick --stay` succeeds at once while another tick runs") {
    const base::TempDir folder = *base::TempDir::make("commands");
    testing::write(folder.path() / "recipes/demo.toml",
                   "config_version = 1\npackage = \"demo\"\n[source]\nkind = \"path\"\npath = \"demo\"\n");
    testing::write(
        folder.path() / "site.toml",
        "config_version = 1\nname = \"t\"\nrecipes = [\"recipes\"]\n[state]\ndirectory = \"state\"\n"
        "[work]\ndirectory = \"work\"\n[[python]]\nversion = \"3.99\"\nexecutable = \"python3\"\n"
        "[governor]\nuse = false\n[[want]]\npackage = \"demo\"\nversions = [\"1.0\"]\n");
    const Journal journal(folder.path() / "state");
    testing::must(journal.prepare());
    base::SystemClock clock;
    const auto held = base::LockFile::acquire(journal.lock_file(), clock, lock_stale_after_ms);
    REQUIRE(held.has_value());
    Arguments arguments;
    arguments.site = folder.path() / "site.toml";
    arguments.stay = true;
    const Printed printed = run(run_tick, arguments, folder.path());
    CHECK(printed.status == 0);
    CHECK(printed.out.find("process " + std::to_string(::getpid()) + " on " + base::host_name() +
                           " has held this lock since ") != std::string::npos);
    CHECK_FALSE(fs::exists(folder.path() / "work"));
}

}  // namespace
}  // namespace wheelyard::builder
