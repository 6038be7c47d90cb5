// job.sh as text, and run by a real bash.
#include "builder/schedule/scheduler.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "builder/schedule/batch_command.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/becomes_true.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("job.sh matches its golden file") {
    const JobRequest job{"w1kq7x9aab3cde", {"/work/attempts/w1kq7x9aab3cde"}, {}, 8, 16384, 240};
    const std::string script =
        render_job_script({job, "#PBS -N w1kq7x9aab3cde\n", "unset SLURM_EXPORT_ENV\n", true});
    CHECK(test_support::golden_difference("builder/job.sh", script) == "");
}

TEST_CASE("the warning leaves enough time for a clean stop, and not much more") {
    CHECK(warning_before_end_s(0) == min_warning_s);
    CHECK(warning_before_end_s(1) == min_warning_s);
    CHECK(warning_before_end_s(30) == 180);
    CHECK(warning_before_end_s(10'000) == max_warning_s);
}

// Runs job.sh with this build script to its end.
struct Scene {
    base::TempDir folder = *base::TempDir::make("job");
    AttemptFolder attempt{folder.path() / "a b"};

    // `sleep`: a script that replaces the program in the job.
    base::Finished run(const std::string& build, std::int64_t minutes = 0,
                       const std::string& sleep = "") const {
        testing::write(attempt.script(), "#!/bin/bash\n" + build);
        EnvironmentMap environment = {{"GREETING", "it's\n$HOME"}};
        if (!sleep.empty()) {
            testing::write(folder.path() / "bin/sleep", "#!/bin/bash\n" + sleep, 0755);
            environment["PATH"] = (folder.path() / "bin").string() + ":/usr/bin:/bin";
        }
        testing::must(write_job_script({{"w1", attempt, environment, 1, 0, minutes}, "", "", true}));
        base::Command command;
        command.argv = {"/bin/bash", attempt.job_script().string()};
        const auto finished = base::run_command(command);
        REQUIRE(finished.has_value());
        return *finished;
    }
};

TEST_CASE("the build gets its environment, its log and its exit code") {
    const Scene scene;
    CHECK(scene.run("echo \"$GREETING\"; exit 3").exit_code == 3);
    CHECK(testing::read(scene.attempt.log()) == "it's\n$HOME\n");
    CHECK(read_cut(scene.attempt).empty());
    struct stat status {};
    REQUIRE(::stat(scene.attempt.environment().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE(
    "the build has the locale of its own environment, not the one that its batch system was called with") {
    for (const std::string own : {"", "de_DE.UTF-8"}) {
        const Scene scene;
        EnvironmentMap job = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
        if (!own.empty()) job["LC_ALL"] = own;
        testing::write(scene.attempt.script(), "#!/bin/bash\necho \"$LANG ${LC_ALL-none}\"\n");
        testing::must(write_job_script({{"w1", scene.attempt, job, 1, 0, 0}, "", "", false}));
        base::Command command;
        command.argv = {"/bin/bash", scene.attempt.job_script().string()};
        command.environment = submit_environment({}, {}, job);
        REQUIRE(command.environment->at("LC_ALL") == "C");
        REQUIRE(base::run_command(command).has_value());
        const std::string log = testing::read(scene.attempt.log());
        CHECK(log.substr(log.find("C.UTF-8")) == "C.UTF-8 " + (own.empty() ? "none" : own) + "\n");
    }
}

// A build that waits for its end with builtins alone: `sleep` belongs to the alarm.
constexpr const char* wait_for_the_alarm = "trap 'exit 143' TERM\nmkfifo gate\nread -r < gate & wait\n";

TEST_CASE(
    "the job's alarm sleeps for at most a minute at a time, so that a suspended job's time does not count") {
    const Scene scene;
    const auto finished = scene.run(wait_for_the_alarm, 10, "echo \"$1\" >> slept\n");
    CHECK(finished.exit_code == 143);
    CHECK(read_cut(scene.attempt) == "time_limit");
    std::int64_t total_s = 0;
    const std::string slept = testing::read(scene.attempt.root / "slept");
    for (const auto line : base::split_lines(slept)) {
        const auto seconds = static_cast<std::int64_t>(base::parse_decimal(line).value_or(1000));
        CHECK(seconds <= 60);
        total_s += seconds;
    }
    CHECK(total_s == 10 * 60 - warning_before_end_s(10));
}

TEST_CASE("a job that was granted less time than it asked for is warned by the time that it has") {
    const Scene scene;
    testing::write(scene.attempt.alarm(), std::to_string(alarm_after_s(3)) + "\n");
    const auto finished = scene.run(wait_for_the_alarm, 10, "echo \"$1\" >> slept\n");
    CHECK(finished.exit_code == 143);
    CHECK(read_cut(scene.attempt) == "time_limit");
    std::int64_t total_s = 0;
    const std::string slept = testing::read(scene.attempt.root / "slept");
    for (const auto line : base::split_lines(slept))
        total_s += static_cast<std::int64_t>(base::parse_decimal(line).value_or(1000));
    CHECK(total_s == alarm_after_s(3));
}

TEST_CASE("an alarm whose sleep is killed, as by qdel, raises no alarm") {
    const Scene scene;
    // The build ends once the alarm has had its chance: its process group has no member any more.
    const auto finished = scene.run(
        "until test -e killed; do :; done\nalarm=$(<killed)\n"
        "while kill -0 -- \"-$alarm\" 2> /dev/null; do :; done\nexit 5\n",
        10,
        "ps -o pgid= -p $$ | tr -d ' ' > killed.new\nmv killed.new killed\n"
        "kill -TERM $$\n");
    CHECK(finished.exit_code == 5);
    CHECK(read_cut(scene.attempt).empty());
}

TEST_CASE("a warning stops the whole build, which still records how far it came") {
    const Scene scene;
    // The build signals job.sh, its parent, once its own child runs, so that the test needs no sleep.
    const auto finished = scene.run(
        "trap 'code=$?; echo ended with $code; exit $code' EXIT\ntrap 'exit 143' TERM\n"
        "sleep 1000 &\necho $! > sleeper\nkill -USR1 $PPID\nwait\n");
    CHECK(finished.exit_code == 143);
    CHECK(read_cut(scene.attempt) == "time_limit");
    const std::string log = testing::read(scene.attempt.log());
    CHECK(log.find("stop requested: time_limit") != std::string::npos);
    CHECK(log.find("ended with 143") != std::string::npos);
    const auto sleeper = base::parse_decimal(base::trim(testing::read(scene.attempt.root / "sleeper")));
    REQUIRE(sleeper.has_value());
    // A process that has ended has no command line, even before it is reaped.
    CHECK(test_support::becomes_true([&sleeper] {
        const auto words = base::read_file("/proc/" + std::to_string(*sleeper) + "/cmdline", 4096);
        return !words || words->empty();
    }));
}

}  // namespace
}  // namespace wheelyard::builder
