// Steps that run in separate processes: how they end, and that no process of theirs remains.
#include "builder/sources/login_step.hpp"

#include <doctest/doctest.h>

#include "builder/attempt/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/lock_file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"
#include "tests/builder/patiently.hpp"
#include "tests/support/becomes_true.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct Scene {
    base::TempDir folder = *base::TempDir::make("step");
    base::SystemClock clock;
    LoginStep step{folder.path(), "it", "", base::current_environment(), "a test"};

    base::Status run(const std::string& script) {
        step.script = script;
        return testing::patiently(clock, [&] { return advance_login_step(step, clock); });
    }
    base::Status look() { return advance_login_step(step, clock); }
    [[nodiscard]] fs::path file(const std::string& name) const { return folder.path() / name; }
    void write(const std::string& name, const std::string& text) const {
        REQUIRE(base::replace_file(file(name), text).has_value());
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        const auto text = base::read_file(file(name), base::mib);
        return text ? *text : "";
    }
    // Whether the process whose id the script wrote into a file ends. A zombie has.
    [[nodiscard]] bool ends(const std::string& name) const {
        const auto pid = base::parse_decimal(base::trim(read(name)));
        REQUIRE(pid.has_value());
        return test_support::becomes_true(
            [&] { return base::process_start_time(static_cast<std::int64_t>(*pid)) == 0; });
    }
};

TEST_CASE("a failed step reports its last output and its log, and the next call starts it again") {
    Scene scene;
    const auto failed = scene.run("echo it is broken >&2; false | cat");
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == "source.step");
    CHECK(failed.error().sentence.find("it is broken") != std::string::npos);
    CHECK(failed.error().value == scene.file("it.log").string());
    CHECK(scene.run("echo well").has_value());
    CHECK(scene.read("it.log") == "well\n");  // without the previous run's output
    CHECK(scene.read("it.log.before").find("it is broken") != std::string::npos);
    CHECK(scene.run("exit 1").has_value());  // it has ended and does not run again
}

TEST_CASE("a step that follows its script runs again if it ended with another one") {
    Scene scene;
    scene.step.follows_script = true;
    CHECK(scene.run("echo one").has_value());
    CHECK(scene.run("echo two").has_value());
    CHECK(scene.read("it.log") == "two\n");
    CHECK(scene.run("echo two").has_value());
    CHECK(scene.read("it.log.before") == "one\n");  // it ran twice, not three times
}

TEST_CASE("the error contains only the last lines of a long log") {
    Scene scene;
    const auto failed = scene.run("seq 20000; echo it is broken; exit 1");
    REQUIRE(!failed.has_value());
    REQUIRE(fs::file_size(scene.file("it.log")) > log_tail_bytes);
    CHECK(failed.error().sentence == "A step on the login node failed: a test: 19999 / 20000 / it is broken");
}

TEST_CASE("the error contains only the beginning of a long line") {
    Scene scene;
    const auto failed = scene.run("head -c 30000 /dev/zero | tr '\\0' x; exit 1");
    REQUIRE(!failed.has_value());
    CHECK(failed.error().sentence ==
          "A step on the login node failed: a test: " + std::string(max_error_line_bytes, 'x') + "…");
}

TEST_CASE("a step whose end appears only after a refresh of the folder does not start again") {
    Scene scene;
    // The refresh writes NAME.now, so a link to that file is an end that appears then. The marker is gone.
    fs::create_symlink("it.now", scene.file("it.end"));
    scene.step.script = "touch begun";
    const auto ended = scene.look();
    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == "source.step");  // such an end has no exit status
    CHECK_FALSE(fs::exists(scene.file("it.sh")));
    CHECK_FALSE(fs::exists(scene.file("it.starts")));
}

TEST_CASE("a step that exceeds its time limit is killed with all its processes, and its log is kept") {
    Scene scene;
    scene.step.max_s = 5;
    const auto ended = scene.run("echo at work; echo $$ > main; sleep 10000 & echo $! > child; wait");
    REQUIRE(!ended.has_value());
    CHECK(ended.error().code == "source.step_time");
    CHECK(ended.error().advice.find("network.login_minutes") != std::string::npos);
    CHECK(ended.error().kind == base::ErrorKind::program);
    CHECK_FALSE(ended.error().may_pass());
    CHECK(scene.read("it.log").starts_with("at work\n"));
    CHECK(scene.ends("main"));
    CHECK(scene.ends("child"));
}

TEST_CASE("a cancelled step ends with all its processes, wherever it runs") {
    Scene scene;
    scene.step.touch_s = 1;
    scene.step.script = "echo $$ > main; sleep 10000 & echo $! > child; wait";
    REQUIRE(scene.look().error().code == "source.fetching");
    REQUIRE(test_support::becomes_true([&] { return fs::exists(scene.file("child")); }));
    call_off_login_step(scene.folder.path(), "it");
    CHECK(test_support::becomes_true([&] { return fs::exists(scene.file("it.end")); }));
    CHECK(scene.ends("main"));
    CHECK(scene.ends("child"));
    CHECK_FALSE(fs::exists(scene.file("it.alive")));
}

TEST_CASE("a step that is cancelled before it begins does nothing") {
    Scene scene;
    REQUIRE(scene.run("touch done").has_value());  // leaves a script, and no marker
    fs::remove(scene.file("done"));
    fs::remove(scene.file("it.end"));
    const base::Command late{.argv = {"/bin/bash", scene.file("it.sh").string()},
                             .environment = base::current_environment()};
    REQUIRE(base::run_command(late).has_value());
    CHECK_FALSE(fs::exists(scene.file("it.alive")));
    CHECK_FALSE(fs::exists(scene.file("done")));
    CHECK_FALSE(fs::exists(scene.file("it.end")));
}

TEST_CASE("a step that is killed repeatedly without recording its end fails") {
    Scene scene;
    for (std::uint64_t start = 0; start < max_login_starts; ++start) {
        // Some nodes kill all remaining processes of a session: the step is killed and writes no end.
        scene.step.script = "echo $$ > main; kill -KILL $(ps -o pid= -s $(ps -o sid= -p $$))";
        CHECK(scene.look().error().code == "source.fetching");
        REQUIRE(test_support::becomes_true([&] { return !scene.read("main").empty(); }));
        CHECK(scene.ends("main"));
        fs::remove(scene.file("main"));
        fs::last_write_time(scene.file("it.alive"), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    const auto failed = scene.look();
    REQUIRE(!failed.has_value());
    CHECK(failed.error().code == "source.step");
    CHECK(failed.error().sentence.find("never recorded its end") != std::string::npos);
    CHECK(scene.run("true").has_value());
}

TEST_CASE("what a step puts in the place of its end is never read or waited for") {
    for (const std::string made : {"ln -s zero it.end", "mkfifo it.end", "mkdir it.end"}) {
        CAPTURE(made);
        Scene scene;
        scene.write("zero", "0\n");
        const auto failed = scene.run(made + "; sleep 60");
        REQUIRE(!failed.has_value());
        CHECK(failed.error().code == "source.step");
        CHECK(scene.run("mkfifo it.end.tmp").has_value());  // its end replaces the FIFO
    }
}

TEST_CASE("the age of a step's marker is measured by the file system's clock") {
    struct Row {
        int hours;
        bool is_at_work;
    };
    for (const Row row :
         {Row{0, true}, Row{-1, false}, Row{1, false}}) {  // also after the clock stepped back
        CAPTURE(row.hours);
        Scene scene;
        scene.write("it.alive", "");
        fs::last_write_time(scene.file("it.alive"),
                            fs::file_time_type::clock::now() + std::chrono::hours(row.hours));
        scene.step.script = "touch begun";
        static_cast<void>(scene.look());
        CHECK(fs::exists(scene.file("it.sh")) != row.is_at_work);
    }
}

TEST_CASE("a failure may pass if the step's log blames the network or the machine, otherwise it is final") {
    struct Row {
        const char* said;
        bool may_pass;
    };
    for (const Row row : {Row{"fatal: unable to access: Could not resolve host: git.example.org", true},
                          Row{"OSError: [Errno 28] No space left on device", true},
                          Row{"bash: fork: retry: Resource temporarily unavailable", true},
                          Row{"ERROR: No matching distribution found for nobody-has-this", false},
                          Row{"it is broken", false}}) {
        CAPTURE(row.said);
        Scene scene;
        const auto failed = scene.run("echo '" + std::string(row.said) + "'; exit 1");
        REQUIRE(!failed.has_value());
        CHECK(failed.error().kind == base::ErrorKind::program);
        CHECK(failed.error().may_pass() == row.may_pass);
    }
}

}  // namespace
}  // namespace wheelyard::builder
