// The whole agent: its results, and that it converges when it is killed at any step.
#include "builder/agent/agent.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "builder/attempt/known_store.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/attempt/site_check_record.hpp"
#include "builder/steps/steps.hpp"
#include "lib/io/json.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/becomes_true.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
using testing::must;
using testing::tick_in_child;
namespace fs = std::filesystem;

TEST_CASE("a wanted wheel is built, inspected, uploaded and visible on its page") {
    Farm farm;
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
    REQUIRE(farm.attempts().size() == 1);
    const Attempt attempt = farm.attempts().front();
    CHECK(attempt.state == State::done);
    CHECK(attempt.wheel.filename == "demo-1.0-py3-none-any.whl");
    CHECK(attempt.job.exit_code == 0);
    CHECK(!fs::exists(farm.site.work_directory / "trees" / "demo-1" / "tree"));
    CHECK(fs::exists(farm.site.work_directory / "attempts" / attempt.id / "log"));
    const auto outcome = wire::parse_outcome(testing::read(farm.journal->outcome_file(attempt.id)));
    REQUIRE(outcome.has_value());
    CHECK(outcome->done);
    CHECK(outcome->wheel.sha256 == attempt.wheel.sha256);
    REQUIRE(outcome->phases.size() == 5);
    CHECK(outcome->phases[2].name == "build");
}

TEST_CASE("a look at a cell's job has the script that runs, and starts nothing") {
    Farm farm;
    testing::write(
        farm.folder.path() / "project/pyproject.toml",
        "[build-system]\nrequires = [\"setuptools>=61\"]\nbuild-backend = \"setuptools.build_meta\"\n");
    farm.site.environment = {{"CFLAGS", "-O1"}, {"API_TOKEN", "s3cr3t"}};
    Recipe recipe = farm.recipes.of("demo");
    recipe.build_environment = {{"CFLAGS", "-O2"}};
    farm.recipes = {};
    farm.recipes.add(recipe);
    const auto look = [&] {
        Agent agent(farm.parts());
        const Plan plan = *agent.look();
        auto job = agent.look_at_job(plan.cells.front());
        REQUIRE_MESSAGE(job.has_value(), job.error().text());
        return *job;
    };
    const JobText before = look();
    CHECK(farm.attempts().empty());
    CHECK_FALSE(fs::exists(farm.site.work_directory / "attempts"));
    for (const char* part :
         {"demo-1.0-cp311, attempt w", "\nmodules: none\n", "API_TOKEN='(hidden)' CFLAGS=-O2 ",
          "\nbuild requirements: setuptools>=61\n", "\npatches: none\n", "The next attempt has another id"}) {
        CAPTURE(part);
        CHECK_MESSAGE(before.summary.find(part) != std::string::npos, before.summary);
    }
    farm.settle();
    const std::string id = farm.attempts().front().id;
    const std::string script = testing::read(farm.site.work_directory / "attempts" / id / "script.sh");
    // Its own, whatever the files say by now.
    farm.site.environment = {{"CFLAGS", "-O3"}, {"LATER", "1"}};
    CHECK(look().script == script);
    CHECK(look().summary.find("This is its own script.") != std::string::npos);
    CHECK(look().summary.find("LATER") == std::string::npos);
    fs::remove(farm.site.work_directory / "attempts" / id / "script.sh");
    CHECK(look().script.find("LATER") != std::string::npos);
    CHECK(look().summary.find("this is by today's files") != std::string::npos);
    const std::string mark = ", attempt ";
    const auto at = before.summary.find(mark) + mark.size();
    const std::string then = before.summary.substr(at, id.size());
    CHECK(base::replace_all(before.script, then, id) == script);
}

TEST_CASE("no job runs for a cell that cannot be built") {
    Farm farm;
    farm.site.wants[0].pythons = {"3.99"};
    Agent agent(farm.parts());
    const Plan plan = *agent.look();
    const auto job = agent.look_at_job(plan.cells.front());
    REQUIRE(!job.has_value());
    CHECK(job.error().code == "plan.no_job");
    CHECK(job.error().value == "demo-1.0-3.99: impossible, the site has no Python of this version");
}

TEST_CASE("nothing is compiled that the token may not upload, until it may") {
    Farm farm;
    farm.registry.refused.emplace("demo", base::Error{"upload.not_allowed", "The token may not upload"});
    const TickReport report = farm.tick();
    CHECK(farm.registry.asked_uploads == std::vector<std::string>{"demo"});
    CHECK(report.plan.count(CellState::held) == 1);
    CHECK(!report.moved);
    CHECK(farm.attempts().empty());
    CHECK(farm.builds() == 0);
    farm.registry.refused.clear();
    CHECK(farm.settle().plan.count(CellState::have) == 1);
}

TEST_CASE("a journal notices the store of another registry until that one has its wheels") {
    Farm farm;
    farm.registry.store = "";  // nothing published yet
    farm.settle();
    CHECK(read_known_store(farm.site.state_directory).empty());
    farm.registry.store = "first";
    farm.tick();
    CHECK(read_known_store(farm.site.state_directory) == "first");

    const fs::path wheel = farm.folder.path() / "index" / "demo-1.0-py3-none-any.whl";
    REQUIRE(fs::exists(wheel));
    fs::rename(wheel, farm.folder.path() / "kept.whl");
    const auto reason = [&farm] {
        const TickReport report = farm.tick();
        REQUIRE(report.plan.cells.size() == 1);
        return report.plan.cells.front().reason;
    };
    CHECK(reason().find("another store") == std::string::npos);  // deleted from its own store
    farm.registry.store.reset();
    CHECK(reason().find("another store") == std::string::npos);  // the answer does not say
    for (const char* other : {"", "second"}) {
        farm.registry.store = other;
        CHECK(reason().find("has another store") != std::string::npos);
        CHECK(read_known_store(farm.site.state_directory) == "first");
    }
    CHECK(farm.builds() == 1);
    fs::rename(farm.folder.path() / "kept.whl", wheel);  // the operator imported what the old one had
    CHECK(reason() == "demo-1.0-py3-none-any.whl");
    CHECK(read_known_store(farm.site.state_directory) == "second");
}

TEST_CASE("a second tick has nothing to do") {
    Farm farm;
    farm.settle();
    const TickReport report = farm.tick();
    CHECK(!report.moved);
    CHECK(farm.builds() == 1);
    CHECK(farm.registry.uploads == 1);
}

TEST_CASE("after a kill at any step the next ticks converge, and nothing is built twice") {
    std::set<std::string> stopped;
    for (const auto point : agent_failpoints) {
        CAPTURE(point);
        Farm farm;
        // A later tick may reach the failpoint: steps after the job's start run when its end is seen.
        for (int tick = 0; tick < 4 && !stopped.contains(std::string(point)); ++tick) {
            if (tick_in_child(farm, std::string(point)) == 137) stopped.insert(std::string(point));
        }
        const TickReport report = farm.settle();
        CHECK(report.plan.count(CellState::have) == 1);
        CHECK(farm.builds() == 1);
        CHECK(farm.attempts().size() == 1);
        CHECK(farm.attempts().front().state == State::done);
    }
    CHECK_MESSAGE(stopped.size() == agent_failpoints.size(), "a step in the table was never reached");
}

TEST_CASE("the agent converges even if it is killed repeatedly at the same step") {
    for (const auto point : agent_failpoints) {
        CAPTURE(point);
        Farm farm;
        for (int count = 0; count < 3; ++count)
            static_cast<void>(tick_in_child(farm, std::string(point)));
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.builds() == 1);
    }
}

// Waits until `done`, which depends on another process.
template <typename Condition>
void wait_until(Condition done) {
    REQUIRE(test_support::becomes_true(done));
}

TEST_CASE("a job outlives its agent, is found again while it runs, and runs only once") {
    Farm farm;
    farm.scheduler = &farm.local;
    const fs::path gate = farm.folder.path() / "gate";
    REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
    CHECK(tick_in_child(farm, "submit.started") == 137);
    wait_until([&] { return farm.builds() == 1; });  // and blocks at the gate until the test reads there
    const TickReport report = farm.tick();
    REQUIRE(report.active.size() == 1);
    CHECK(report.active.front().state == State::running);
    CHECK(report.active.front().job.submits == 1);
    {
        const base::Fd reader(::open(gate.c_str(), O_RDONLY | O_CLOEXEC));
        char byte = 0;
        REQUIRE(::read(reader.get(), &byte, 1) == 1);
    }
    const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.attempts().front().id};
    wait_until([&] { return fs::exists(folder.exit_record()); });
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
    CHECK(farm.attempts().size() == 1);
}

TEST_CASE("a job that is killed without an exit record is tried again") {
    Farm farm;
    farm.scheduler = &farm.local;
    const fs::path gate = farm.folder.path() / "gate";
    REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
    farm.tick();
    wait_until([&] { return farm.builds() == 1; });  // and blocks at the gate: nobody reads there
    const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.attempts().front().id};
    const auto owner = parse_owner(testing::read(folder.owner()));
    REQUIRE(owner.has_value());
    testing::must(farm.local.cancel(farm.attempts().front().id, folder));
    wait_until([&] { return base::process_start_time(owner->pid) == 0; });
    fs::remove(gate);
    farm.scheduler = &farm.prompt;
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::have) == 1);
    REQUIRE(farm.attempts().size() == 2);
    CHECK(farm.attempts().front().failure->error.code == "job.vanished");
    CHECK(farm.attempts().back().number == 2);
}

TEST_CASE("an overdue job is asked to end, killed if it does not, and followed by another attempt") {
    for (const bool deaf : {false, true}) {
        CAPTURE(deaf);
        Farm farm;
        farm.scheduler = &farm.local;
        farm.site.max_walltime_minutes = 25;
        if (deaf) testing::write(farm.folder.path() / "deaf", "");
        const fs::path gate = farm.folder.path() / "gate";
        REQUIRE(::mkfifo(gate.c_str(), 0600) == 0);
        farm.tick();
        const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.attempts().front().id};
        wait_until([&] { return farm.builds() == 1; });  // and blocks at the gate
        farm.tick();
        farm.clock.set(farm.clock.now() + base::day_us);  // as when a wrong clock is set right
        farm.tick();                                      // after twenty minutes
        CHECK(farm.attempts().front().state == State::running);
        CHECK(farm.attempts().front().job.asked_to_end == 0);
        farm.tick();  // after thirty minutes
        CHECK(farm.attempts().front().job.asked_to_end != 0);
        if (deaf) {
            const auto owner = parse_owner(testing::read(folder.owner()));
            REQUIRE(owner.has_value());
            CHECK(!fs::exists(folder.exit_record()));
            farm.tick();
            wait_until([&] { return base::process_start_time(owner->pid) == 0; });
        } else {
            wait_until([&] { return fs::exists(folder.exit_record()); });
        }
        fs::remove(gate);
        farm.scheduler = &farm.prompt;
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        REQUIRE(farm.attempts().size() == 2);
        CHECK(farm.attempts().front().failure->error.code == "job.time_limit");
    }
}

TEST_CASE("processes that a finished job left running are killed") {
    Farm farm;
    farm.scheduler = &farm.local;
    const fs::path left = farm.folder.path() / "left";
    Recipe recipe = farm.recipes.of("demo");
    recipe.test_command = "sleep 1000 & echo $! > " + base::quote_shell(left.string());
    farm.recipes.add(recipe);
    farm.tick();
    const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.attempts().front().id};
    wait_until([&] { return fs::exists(folder.exit_record()); });
    const std::string text = testing::read(left);
    const auto pid = static_cast<std::int64_t>(*base::parse_decimal(base::trim(text)));
    // It sleeps for longer than the test takes: only the agent ends it, perhaps already in its first tick.
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    wait_until([&] { return base::process_start_time(pid) == 0; });
}

TEST_CASE("a build that fails twice with the same error at the same line is not built a third time") {
    Farm farm;
    testing::write(farm.folder.path() / "break", "");
    const TickReport report = farm.settle();
    REQUIRE(report.plan.cells.size() == 1);
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason ==
          "needs_person: failed twice with the same error, which no rule explains: read `wheelyard-builder "
          "logs demo-1.0-cp311`, change the source, the recipe or the site, then "
          "`wheelyard-builder retry demo-1.0-cp311`; failed in build: Phase build ended with exit "
          "code 1 [x.c:1:1: error: it is broken]");
    CHECK(report.plan.cells.front().needs_person);
    CHECK(farm.builds() == 2);
}

TEST_CASE("a failing build is tried max_attempts times and then given up with the first error") {
    Farm farm;
    farm.site.max_attempts = 2;
    testing::write(farm.folder.path() / "break", "");
    const TickReport report = farm.settle();
    REQUIRE(report.plan.cells.size() == 1);
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason ==
          "2 of 2 attempts failed; the last in build: Phase build ended with exit code 1 [x.c:1:1: error: "
          "it is broken]");
    CHECK(farm.builds() == 2);
    const auto outcome =
        wire::parse_outcome(testing::read(farm.journal->outcome_file(farm.attempts().back().id)));
    REQUIRE(outcome.has_value());
    CHECK(!outcome->done);
    CHECK(outcome->diagnosis->phase == "build");
    CHECK(outcome->diagnosis->first_error == "x.c:1:1: error: it is broken");

    SUBCASE("retry starts it again") {
        fs::remove(farm.folder.path() / "break");
        Agent agent(farm.parts());
        CHECK(agent.retry("demo-1.0-cp311").value() ==
              "the next `tick` or `run` builds demo-1.0-cp311 again");
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.attempts().back().number == 3);
    }
}

TEST_CASE("the doctor's diagnosis decides what the agent retries automatically") {
    struct Row {
        const char* says;
        const char* code;   // the failure's
        const char* cause;  // the doctor's
        std::size_t attempts;
        int cores;  // of the second attempt
    };
    const Row rows[] = {
        {"virtual memory exhausted: Cannot allocate memory", "job.out_of_memory", "memory.exhausted", 2, 4},
        // The kernel killed none of the job's processes.
        {"c++: fatal error: Killed signal terminated program cc1plus", "job.killed", "", 2, 0},
        {"nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)", "job.failed",
         "memory.nvcc_crashed", 2, 4},
        {"=>> PBS: job killed: walltime 906 exceeded limit 900", "job.time_limit", "time.job_limit", 2, 0},
        {"slurmstepd: error: *** JOB 7 ON cn119 CANCELLED AT 2021-06-18T13:05:36 DUE TO PREEMPTION ***",
         "job.preempted", "time.preempted", 2, 0},
        {"fatal: unable to access 'https://x/': Could not resolve host: x", "job.network", "network.no_name",
         2, 0},
        {"x.c:1:10: fatal error: hdf5.h: No such file or directory", "job.failed", "compiler.missing_header",
         1, 0},
        {"/usr/bin/ld: error: a.o: file too short", "job.failed", "link.broken_object", 1, 0},
        {"x.c:1:1: error: it is odd", "job.failed", "", 2, 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.says);
        Farm farm;
        farm.site.cores = 8;
        testing::write(farm.folder.path() / "says", std::string(row.says) + "\n");
        const TickReport report = farm.settle();
        const auto attempts = farm.attempts();
        REQUIRE(attempts.size() == row.attempts);
        REQUIRE(attempts.front().failure.has_value());
        CHECK(attempts.front().failure->error.code == row.code);
        CHECK(attempts.front().failure->cause == row.cause);
        CHECK(attempts.front().failure->first_error == row.says);
        CHECK(report.plan.count(row.attempts == 1 ? CellState::given_up : CellState::have) == 1);
        CHECK(attempts.back().job.cores == row.cores);
        CHECK(attempts.back().job.remedy.empty() == (row.cores == 0));
        const auto outcome =
            wire::parse_outcome(testing::read(farm.journal->outcome_file(attempts.front().id)));
        REQUIRE(outcome.has_value());
        CHECK(outcome->diagnosis->cause == row.cause);
        if (row.cores == 0) continue;
        const auto folder = farm.site.work_directory / "attempts" / attempts.back().id;
        CHECK(testing::read(folder / "script.sh").find("export MAX_JOBS=4\n") != std::string::npos);
    }
}

TEST_CASE("remedies are limited: a build that still runs out of memory with fewer cores is given up") {
    Farm farm;
    farm.site.cores = 8;
    for (int count = 0; count < 10; ++count) {
        testing::write(farm.folder.path() / "says", "virtual memory exhausted: Cannot allocate memory\n");
        farm.tick();
    }
    CHECK(farm.attempts().size() == 3);
    CHECK(farm.attempts().back().job.cores == 2);
    CHECK(farm.settle().plan.count(CellState::given_up) == 1);
}

TEST_CASE("a wheel that breaks the rules is refused before upload, with the verdict, and not built again") {
    Farm farm;
    farm.offer_wheel(testing::demo_wheel().wrong_record_hash("demo.py"));
    const TickReport report = farm.settle();
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason.find("record.") != std::string::npos);
    CHECK(farm.builds() == 1);
    CHECK(farm.registry.uploads == 0);
}

TEST_CASE("a wheel that the registry would only quarantine is uploaded") {
    Farm farm;
    farm.offer_wheel(testing::demo_wheel().add("demo_data/broken.so",
                                               "\x7f"
                                               "ELF and no more"));
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.registry.uploads == 1);
    const auto verdicts = farm.attempts().front().wheel.verdicts;
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts.front().find("elf.malformed") != std::string::npos);
}

TEST_CASE("a wheel of another version than wanted is refused") {
    Farm farm;
    farm.offer_wheel(testing::demo_wheel("1.1"));
    CHECK(farm.settle().plan.cells.front().reason.find("another wheel than demo 1.0") != std::string::npos);
    CHECK(farm.registry.uploads == 0);
}

TEST_CASE("a want with a local label accepts only that label, one without accepts any") {
    Farm other;
    other.site.wants = {{"demo", {"1.0+a"}, {"3.11"}}};
    other.offer_wheel(testing::demo_wheel("1.0+b"));
    CHECK(other.settle().plan.cells.front().reason.find("another wheel than demo 1.0+a") !=
          std::string::npos);
    CHECK(other.registry.uploads == 0);

    Farm same;
    same.site.wants = {{"demo", {"1.0+a"}, {"3.11"}}};
    same.offer_wheel(testing::demo_wheel("1.0+a"));
    CHECK(same.settle().plan.count(CellState::have) == 1);

    Farm any;
    any.offer_wheel(testing::demo_wheel("1.0+b"));
    CHECK(any.settle().plan.count(CellState::have) == 1);
}

TEST_CASE("a wheel that setuptools could not name is not uploaded, and the reason is given") {
    Farm farm;
    farm.offer_wheel(test_support::WheelWriter("UNKNOWN", "0.0.0").tag("py3-none-any"));
    const TickReport report = farm.settle();
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason.find("before 61 it does not read [project]") != std::string::npos);
    CHECK(farm.attempts().front().failure->error.code == "wheel.no_name");
    CHECK(farm.registry.uploads == 0);
}

TEST_CASE("a wheel that the site's Python would not install is not uploaded") {
    Farm farm;
    farm.offer_wheel(testing::demo_wheel().tag("cp312-cp312-linux_x86_64"));
    const TickReport report = farm.settle();
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason.find("Python 3.11 of this site would not install") !=
          std::string::npos);
    CHECK(farm.attempts().front().failure->error.code == "wheel.other_tags");
    CHECK(farm.registry.uploads == 0);
}

TEST_CASE("a built wheel waits while its Python does not answer") {
    Farm farm;
    farm.tick();
    const auto python = farm.pythons.at("3.11");
    farm.pythons.at("3.11") = base::fail("python.missing", "away");
    farm.tick();
    CHECK(farm.attempts().front().state == State::built);
    CHECK(farm.attempts().front().waiting.reason.find("does not answer now") != std::string::npos);
    farm.pythons.at("3.11") = python;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("while an index does not answer no package has the URL of another one as its reason") {
    Farm farm;
    farm.site.registry.reset();
    farm.site.wants = {{"first", {"latest"}, {"3.11"}}, {"second", {"latest"}, {"3.11"}}};
    farm.pip.values = {{"index-url", {"http://127.0.0.1:9/simple/", "test"}}};
    farm.sources.emplace(farm.http, farm.site.work_directory, farm.pip, Sources::DefaultIndex());
    const auto plan = Agent(farm.parts()).look();
    REQUIRE(plan.has_value());
    REQUIRE(plan->cells.size() == 2);
    CHECK(plan->cells[0].reason.find("http://127.0.0.1:9/simple/first/") != std::string::npos);
    CHECK(plan->cells[1].reason.find("http://127.0.0.1:9/simple/") != std::string::npos);
    CHECK(plan->cells[1].reason.find("first") == std::string::npos);
}

TEST_CASE("a source that does not answer leaves the packages of other sources alone") {
    Farm farm;
    farm.site.registry.reset();
    farm.site.wants = {
        {"first", {"latest"}, {"3.11"}}, {"second", {"latest"}, {"3.11"}}, {"third", {"latest"}, {"3.11"}}};
    Recipe away = default_recipe("first");
    away.source = SourceKind::git;
    away.url = "http://127.0.0.1:9/first.git";
    away.tag = "v{version}";
    Recipe upstream = default_recipe("second");
    upstream.source = SourceKind::upstream;
    upstream.index = "http://127.0.0.1:9/upstream/";
    for (const Recipe& recipe : {away, upstream})
        farm.recipes.add(recipe);
    const fs::path links = farm.folder.path() / "links";
    testing::write(links / "third-1.0.tar.gz", "");
    farm.pip.values["find-links"] = {links.string(), "test"};
    farm.sources.emplace(farm.http, farm.site.work_directory, farm.pip, Sources::DefaultIndex());
    farm.sources->use_git(
        GitSource(farm.site.work_directory / "sources", base::current_environment(), farm.clock, 1));
    const auto plan = Agent(farm.parts()).look();
    REQUIRE(plan.has_value());
    REQUIRE(plan->cells.size() == 3);
    CHECK(plan->cells[0].state == CellState::unknown);
    CHECK(plan->cells[1].state == CellState::unknown);
    CHECK(plan->cells[1].reason.find("127.0.0.1:9/upstream/second/") != std::string::npos);
    CHECK(plan->cells[2].state == CellState::wanted);
    CHECK(plan->cells[2].version == "1.0");
}

TEST_CASE("a host whose repository does not answer in time is waited for once, and is named") {
    Farm farm;
    farm.site.registry.reset();
    const std::array<std::pair<std::string, std::string>, 3> repositories = {
        {{"first", "https://slow.example/first.git"},
         {"second", "https://slow.example/second.git"},
         {"third", "https://other.example/third.git"}}};
    for (const auto& [name, url] : repositories) {
        farm.site.wants.push_back({name, {"latest"}, {"3.11"}});
        Recipe recipe = default_recipe(name);
        recipe.source = SourceKind::git;
        recipe.url = url;
        recipe.tag = "v{version}";
        farm.recipes.add(recipe);
    }
    const fs::path git = farm.folder.path() / "bin" / "git";
    testing::write(git,
                   "#!/bin/sh\ncase \"$*\" in *slow*) exec sleep 60 ;; esac\n"
                   "printf '0123\\trefs/tags/v1.0\\n'\n");
    fs::permissions(git, fs::perms::owner_all);
    auto environment = base::current_environment();
    environment["PATH"] = git.parent_path().string() + ":" + environment["PATH"];
    constexpr std::int64_t patience_ms = 5'000;
    farm.sources->use_git(
        GitSource(farm.site.work_directory / "sources", environment, farm.clock, 1, patience_ms));
    const auto plan = Agent(farm.parts()).look();
    REQUIRE(plan.has_value());
    REQUIRE(plan->cells.size() >= 3);
    std::map<std::string, Cell> cells;
    for (const auto& cell : plan->cells)
        cells[cell.package] = cell;
    CHECK(cells["first"].reason ==
          "git cannot list the tags: no answer within 5.0 s: `https://slow.example/first.git`");
    CHECK(cells["second"].reason ==
          "git cannot list the tags: no answer within 5.0 s: `https://slow.example:443/`");
    CHECK(cells["third"].state == CellState::wanted);
}

TEST_CASE("while `site check` fails no job begins unless told, and what runs is collected and uploaded") {
    Farm farm;
    farm.registry.busy = true;
    farm.tick();
    farm.tick();  // a built wheel waits for the registry
    REQUIRE(farm.attempts().front().state == State::uploading);
    farm.site.wants.push_back({"demo", {"2.0"}, {"3.11"}});
    must(write_site_check(farm.site.state_directory,
                          {1'790'000'000'000'000, {"C compiler cc: cc: command not found"}}));
    farm.registry.busy = false;
    TickReport report = farm.tick();
    CHECK(report.plan.start_nothing.find("`site check` failed at 2026-09-21T") == 0);
    CHECK(report.plan.start_nothing.find("C compiler cc: cc: command not found") != std::string::npos);
    CHECK(report.plan.start_nothing.find("wheelyard-builder site check") != std::string::npos);
    CHECK(farm.attempts().size() == 1);
    CHECK(farm.attempts().front().state == State::done);
    CHECK(farm.registry.has("demo-1.0-py3-none-any.whl"));

    AgentParts told = farm.parts();
    told.is_unchecked = true;
    farm.offer_wheel(testing::demo_wheel("2.0"));
    REQUIRE(Agent(told).tick().has_value());
    CHECK(farm.attempts().size() == 2);
    CHECK(farm.builds() == 2);
}

TEST_CASE("an attempt that is prepared when `site check` begins to fail waits, and goes on afterwards") {
    Farm farm;
    CHECK(tick_in_child(farm, "journal.prepared") == 137);
    must(write_site_check(farm.site.state_directory, {1, {"C compiler"}}));
    farm.tick();
    CHECK(farm.attempts().front().state == State::prepared);
    CHECK(farm.attempts().front().waiting.reason.find("C compiler") != std::string::npos);
    must(write_site_check(farm.site.state_directory, {2, {}}));
    CHECK(farm.settle().plan.count(CellState::have) == 1);
}

TEST_CASE("while the registry is down no attempt starts, and a built wheel waits") {
    Farm farm;
    farm.registry.down = true;
    TickReport report = farm.tick();
    CHECK(report.plan.cells.front().state == CellState::unknown);
    CHECK(farm.attempts().empty());

    farm.registry.down = false;
    farm.tick();  // the prompt scheduler builds it
    farm.registry.down = true;
    report = farm.tick();
    REQUIRE(report.active.size() == 1);
    CHECK(report.active.front().state == State::uploading);
    CHECK(report.active.front().waiting.tries == 1);
    CHECK(report.active.front().waiting.reason.find("The registry is down") == 0);
    farm.registry.down = false;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("an attempt whose wheel folder cannot be read waits and is not given up") {
    Farm farm;
    CHECK(tick_in_child(farm, "journal.built") != 137);
    CHECK(tick_in_child(farm, "journal.built") == 137);
    const fs::path wheel = farm.site.work_directory / "attempts" / farm.attempts().front().id / "wheel";
    fs::rename(wheel, wheel.native() + "-away");
    testing::write(wheel, "no folder");
    farm.tick();
    CHECK(farm.attempts().front().state == State::built);
    CHECK(farm.attempts().front().waiting.reason.find("Not a directory") != std::string::npos);
    fs::remove(wheel);
    fs::rename(wheel.native() + "-away", wheel);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a wheel that the registry refuses is kept, and retry uploads it again without a build") {
    Farm farm;
    farm.registry.refusal = "no right on this index";
    TickReport report = farm.settle();
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(report.plan.cells.front().reason == "failed for good in upload: no right on this index");
    farm.registry.refusal.clear();
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a wheel that the registry refuses is built again after a change of its recipe") {
    Farm farm;
    farm.registry.refusal = "elf.search_path: a folder outside the wheel";
    CHECK(farm.settle().plan.cells.front().state == CellState::given_up);
    farm.registry.refusal.clear();
    Agent agent(farm.parts());
    REQUIRE(agent.rebuild("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 2);
}

TEST_CASE("a wheel that the index has is built again with the next build tag, and the older one stays") {
    Farm farm;
    farm.settle();
    for (const std::string build : {"1", "2"}) {
        CAPTURE(build);
        const auto asked = Agent(farm.parts()).rebuild("demo");  // part of the cell's name
        REQUIRE_MESSAGE(asked.has_value(), asked.error().text());
        CHECK(asked->find("build " + build + ", which pip prefers to demo-1.0-") != std::string::npos);
        CHECK(Agent(farm.parts()).rebuild("demo-1.0-cp311").error().code == "retry.active");
        const TickReport report = farm.settle();
        const std::string filename = "demo-1.0-" + build + "-py3-none-any.whl";
        CHECK(report.plan.cells.front().state == CellState::have);
        CHECK(report.plan.cells.front().reason == filename);
        CHECK(farm.registry.has(filename));
    }
    CHECK(farm.registry.has("demo-1.0-py3-none-any.whl"));
    CHECK(farm.builds() == 3);
}

TEST_CASE("another build that fails leaves the cell as it was, and retry repeats it with its build tag") {
    Farm farm;
    farm.settle();
    REQUIRE(Agent(farm.parts()).rebuild("demo-1.0-cp311").has_value());
    testing::write(farm.folder.path() / "break", "");
    const TickReport report = farm.settle();
    const Cell& cell = report.plan.cells.front();
    CHECK(cell.state == CellState::have);
    CHECK(!cell.has_failed);
    CHECK(cell.reason.starts_with(
        "demo-1.0-py3-none-any.whl; build 1 of it: needs_person: failed twice with the same error"));
    fs::remove(farm.folder.path() / "break");
    const fs::path unreadable = farm.site.state_directory / "attempts" / "wbroken.json";
    testing::write(unreadable, "{");
    CHECK(Agent(farm.parts()).retry("demo-1.0-cp311").error().code == "journal.unreadable");
    fs::remove(unreadable);
    CHECK(farm.settle().plan.cells.front().reason == cell.reason);  // nothing that was asked for is lost
    REQUIRE(Agent(farm.parts()).retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.cells.front().reason == "demo-1.0-1-py3-none-any.whl");
    CHECK(farm.registry.has("demo-1.0-1-py3-none-any.whl"));
    CHECK(farm.builds() == 4);
}

TEST_CASE("what is not built here is not built again") {
    Farm farm;
    farm.settle();
    Recipe recipe = default_recipe("demo");
    recipe.source = SourceKind::upstream;
    farm.recipes.add(recipe);
    CHECK(Agent(farm.parts()).rebuild("demo").error().code == "rebuild.not_ours");
    CHECK(farm.attempts().size() == 1);
}

TEST_CASE("a refused token is reported once and pauses the uploads, and every wheel is kept") {
    Farm farm;
    farm.registry.unauthorised = true;
    for (int count = 0; count < 4; ++count) {
        const TickReport report = farm.tick();
        if (count > 0) REQUIRE(report.uploads_paused.has_value());
    }
    CHECK(farm.attempts().front().state == State::uploading);
    CHECK(farm.attempts().front().wheel.sends == 0);  // refused tries do not count
    CHECK(std::count_if(farm.notes.begin(), farm.notes.end(), [](const std::string& note) {
              return note.find("The token is expired") != std::string::npos;
          }) == 1);
    farm.registry.unauthorised = false;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
    CHECK(!farm.tick().uploads_paused.has_value());
}

TEST_CASE("after a refused token no other wheel is uploaded in that tick") {
    Farm farm;
    farm.tick();
    Attempt other = farm.attempts().front();  // a second attempt with its own wheel
    fs::copy(farm.site.work_directory / "attempts" / other.id,
             farm.site.work_directory / "attempts" / "wother", fs::copy_options::recursive);
    other.id = "wother";
    other.asked.cell = "demo-1.0-cp312";
    other.state = State::running;
    const fs::path record = farm.site.work_directory / "attempts" / "wother" / "exit.json";
    testing::write(record, base::replace_all(testing::read(record), farm.attempts().front().id, "wother"));
    testing::must(farm.journal->write(other));
    farm.registry.unauthorised = true;
    farm.tick();
    CHECK(farm.registry.uploads == 1);
    for (const auto& attempt : farm.attempts()) {
        CHECK(attempt.state == State::uploading);
        CHECK(attempt.waiting.reason.find("The token is expired") != std::string::npos);
    }
}

TEST_CASE("if the work folder is not mounted, the tick stops and loses nothing") {
    Farm farm;
    farm.tick();
    REQUIRE(farm.attempts().front().state == State::submitting);
    const fs::path away = farm.folder.path() / "away";
    fs::rename(farm.site.work_directory, away);
    for (const bool mount_point_is_there : {false, true}) {
        CAPTURE(mount_point_is_there);
        if (mount_point_is_there) fs::create_directory(farm.site.work_directory);
        Agent agent(farm.parts());
        const auto report = agent.tick();
        REQUIRE(!report.has_value());
        CHECK(report.error().code == "work.away");
        CHECK(report.error().value == (farm.site.work_directory / work_marker).string());
        farm.clock.sleep_ms(claim_grace_ms * 10);
    }
    CHECK(fs::is_empty(farm.site.work_directory));
    fs::remove(farm.site.work_directory);
    fs::rename(away, farm.site.work_directory);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("if the state folder is not mounted, the tick stops and builds nothing twice") {
    Farm farm;
    farm.settle();
    fs::rename(farm.site.state_directory, farm.folder.path() / "unmounted");
    Agent agent(farm.parts());
    CHECK(agent.tick().error().code == "journal.away");
    CHECK(agent.retry("demo-1.0-cp311").error().code == "journal.away");
    CHECK_FALSE(fs::exists(farm.site.state_directory / "attempts"));
    fs::rename(farm.folder.path() / "unmounted", farm.site.state_directory);
    CHECK(agent.tick().has_value());
    CHECK(farm.builds() == 1);
    fs::remove_all(farm.site.state_directory);
    fs::create_directories(farm.site.state_directory / "attempts");  // as the error advises
    CHECK(agent.tick().has_value());
}

TEST_CASE("an empty work folder of a site without active attempts is used") {
    Farm farm;
    farm.settle();
    fs::remove_all(farm.site.work_directory);
    CHECK(farm.tick().plan.count(CellState::have) == 1);
    CHECK(fs::exists(farm.site.work_directory / work_marker));
}

TEST_CASE("retry selects the attempt with the highest number, not the latest id") {
    Farm farm;
    farm.registry.refusal = "no right on this index";
    farm.settle();
    Attempt older = farm.attempts().front();
    older.id = "wzzzzzzzzzzzzzz";  // sorts last, from a clock that was ahead
    older.number = 0;
    older.failure->phase = "build";
    testing::must(farm.journal->write(older));
    farm.registry.refusal.clear();
    Agent agent(farm.parts());
    const auto done = agent.retry("demo-1.0-cp311");
    REQUIRE(done.has_value());
    CHECK(done->starts_with("the next `tick` or `run` uploads the wheel of attempt "));
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a clock that stepped back delays nothing") {
    Farm farm;
    farm.tick();
    farm.registry.down = true;
    farm.tick();
    REQUIRE(farm.attempts().front().waiting.tries == 1);
    farm.registry.down = false;
    farm.clock.set(farm.clock.now() - 30LL * 24 * 3600 * 1'000'000);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a wheel that was accepted but never appears is not sent again, and is reported in the end") {
    Farm farm;
    farm.registry.forgets = true;
    TickReport report = farm.tick();
    report = farm.tick();
    REQUIRE(report.active.size() == 1);
    CHECK(report.active.front().wheel.sent != 0);
    CHECK(report.active.front().waiting.reason.find("does not show it yet") != std::string::npos);
    farm.settle();
    CHECK(farm.registry.uploads == 1);
    CHECK(farm.attempts().front().failure->error.code == "upload.never_visible");
    CHECK(farm.attempts().front().failure->error.advice.find("retry") != std::string::npos);
    farm.registry.forgets = false;
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.registry.uploads == 2);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a wheel is sent a limited number of times, and retry resets the count") {
    Farm farm;
    farm.registry.busy = true;
    farm.settle();
    CHECK(farm.registry.uploads == max_sends);
    CHECK(farm.attempts().front().failure->error.code == "upload.too_often");
    CHECK(farm.attempts().front().failure->error.sentence.find("is busy") != std::string::npos);
    farm.registry.busy = false;
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("another file of the same name in the index is never overwritten") {
    Farm farm;
    farm.tick();
    testing::write(farm.folder.path() / "index" / "demo-1.0-py3-none-any.whl", "other bytes");
    farm.settle();
    CHECK(farm.attempts().front().failure->error.code == "upload.name_taken");
    CHECK(testing::read(farm.folder.path() / "index" / "demo-1.0-py3-none-any.whl") == "other bytes");
}

TEST_CASE("without a registry the wheel stays in the work folder") {
    Farm farm;
    farm.site.registry.reset();
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(fs::exists(farm.site.work_directory / "wheels" / "demo-1.0-py3-none-any.whl"));
}

TEST_CASE("a pure wheel serves both Pythons and is built once") {
    Farm farm;
    farm.site.max_jobs = 2;
    farm.add_python("3.12", 12);
    farm.site.wants = {{"demo", {"1.0"}, {"3.11", "3.12"}}};
    CHECK(farm.settle().plan.count(CellState::have) == 2);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a second tick at the same time fails and names the holder of the lock") {
    Farm farm;
    const auto held = base::LockFile::acquire(farm.journal->lock_file(), farm.clock, lock_stale_after_ms);
    REQUIRE(held.has_value());
    Agent agent(farm.parts());
    const auto report = agent.tick();
    REQUIRE(!report.has_value());
    CHECK(report.error().code == "lock.held");
    CHECK(report.error().text().find(base::host_name()) != std::string::npos);
    CHECK(farm.attempts().empty());
}

TEST_CASE("a tick that lost its lock writes and starts nothing more") {
    Farm farm;
    const auto lose = [&farm] {
        fs::remove(farm.journal->lock_file());
        farm.clock.sleep_ms(lock_refresh_every_ms * 2);
    };
    const auto lost_tick = [&farm, &lose] {
        farm.registry.asked = lose;
        Agent agent(farm.parts());
        const auto report = agent.tick();
        farm.registry.asked = {};
        REQUIRE(!report.has_value());
        CHECK(report.error().code == "lock.lost");
    };
    lost_tick();
    CHECK(farm.attempts().empty());
    farm.tick();
    lost_tick();
    CHECK(farm.attempts().front().state == State::uploading);
    CHECK(farm.registry.uploads == 0);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

// Runs a callback each time it is asked.
class BusyClock final : public base::Clock {
  public:
    BusyClock(base::ManualClock& time, std::function<void()> asked) : time_(time), asked_(std::move(asked)) {}
    [[nodiscard]] base::UnixMicros now() const override {
        asked_();
        return time_.now();
    }
    void sleep_ms(std::int64_t duration_ms) override { time_.sleep_ms(duration_ms); }

  private:
    base::ManualClock& time_;
    std::function<void()> asked_;
};

TEST_CASE("copying a source refreshes the lock, and stops if the lock is lost") {
    Farm farm;
    for (const char* name : {"a.py", "b.py", "c.py", "d.py", "e.py"})
        testing::write(farm.folder.path() / "project" / name, "");
    constexpr std::size_t all = 6;
    const auto copied = [&farm] {
        std::size_t count = 0;
        std::error_code none_yet;
        for (fs::directory_iterator at(farm.site.work_directory / "trees", none_yet), end; at != end; ++at) {
            for (fs::directory_iterator file(at->path() / "tree/demo", none_yet); file != end; ++file)
                ++count;
        }
        return count;
    };
    std::set<std::string> stamps;
    bool loses = false;
    BusyClock clock(farm.clock, [&] {
        if (const auto count = copied(); count == 0 || count == all) return;
        farm.clock.sleep_ms(lock_refresh_every_ms * 2);  // so slow is its file system
        if (loses) fs::remove(farm.journal->lock_file());
        if (!loses) stamps.insert(testing::read(farm.journal->lock_file()));
    });
    farm.agents_clock = &clock;
    SUBCASE("it is refreshed") {
        farm.tick();
        CHECK(stamps.size() >= all - 2);
    }
    SUBCASE("it is lost") {
        loses = true;
        const auto report = Agent(farm.parts()).tick();
        REQUIRE(!report.has_value());
        CHECK(report.error().code == "lock.lost");
        CHECK(copied() < all);
        CHECK(farm.attempts().front().state == State::fetched);
    }
    farm.agents_clock = &farm.clock;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("removing a build tree refreshes the lock, and stops if the lock is lost") {
    Farm farm;
    constexpr std::size_t all = 9;  // the tree, its folder and the folder's content
    for (std::size_t i = 3; i < all; ++i)
        testing::write(farm.folder.path() / "project" / std::to_string(i), "");
    farm.tick();
    const auto is_about_to_end = [&farm] {
        const auto attempts = farm.attempts();
        return attempts.size() == 1 && fs::exists(farm.journal->outcome_file(attempts.front().id));
    };
    REQUIRE(!is_about_to_end());
    const fs::path tree = farm.site.work_directory / "trees" / "demo-1" / "tree";
    const auto left = [&tree] {
        std::error_code none;
        const fs::recursive_directory_iterator entries(tree, none);
        return none ? 0 : 1 + static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    };
    std::set<std::string> stamps;
    bool loses = false;
    BusyClock clock(farm.clock, [&] {
        if (!is_about_to_end() || left() == 0) return;
        farm.clock.sleep_ms(lock_refresh_every_ms * 2);  // so slow is its file system
        if (loses) fs::remove(farm.journal->lock_file());
        if (!loses) stamps.insert(testing::read(farm.journal->lock_file()));
    });
    farm.agents_clock = &clock;
    SUBCASE("it is refreshed") {
        farm.tick();
        CHECK(stamps.size() >= all);
    }
    SUBCASE("it is lost") {
        loses = true;
        const auto report = Agent(farm.parts()).tick();
        REQUIRE(!report.has_value());
        CHECK(report.error().code == "lock.lost");
        CHECK(left() > 0);
        CHECK(farm.attempts().front().state == State::uploading);
    }
    farm.agents_clock = &farm.clock;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(left() == 0);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a running job whose folder is missing is lost, and tried again") {
    Farm farm;
    for (int count = 0; count < 2; ++count)
        static_cast<void>(tick_in_child(farm, "journal.running"));
    REQUIRE(farm.attempts().front().state == State::running);
    fs::remove_all(farm.site.work_directory / "attempts" / farm.attempts().front().id);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().front().failure->error.code == "job.lost");
    CHECK(farm.attempts().size() == 2);
}

TEST_CASE("a job that cannot start because its folder is missing fails after max_submits starts") {
    Farm farm;
    farm.tick();
    REQUIRE(farm.attempts().front().state == State::submitting);
    fs::remove_all(farm.site.work_directory / "attempts" / farm.attempts().front().id);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().front().failure->error.code == "job.never_started");
    CHECK(farm.attempts().front().job.submits == max_submits);
    // A fault of a few minutes does not use up all starts.
    CHECK(farm.attempts().front().changed - farm.attempts().front().created > 5 * 60 * 1'000'000LL);
}

TEST_CASE("an attempt whose job is not visible from this host reports why, and since when") {
    Farm farm;
    farm.tick();
    const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.attempts().front().id};
    fs::rename(folder.exit_record(), folder.root / "away");
    testing::write(folder.owner(), R"({"host":"another-node","boot":"b","pid":4711,"start":1})");
    const std::string since = base::render_rfc3339(farm.clock.now());
    farm.tick();
    farm.tick();
    const std::string reason = farm.attempts().front().waiting.reason;
    CHECK(reason.find("the state of its job is unknown since " + since) == 0);
    CHECK(reason.find("another-node; its state is visible only on that host") != std::string::npos);
    fs::rename(folder.root / "away", folder.exit_record());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
}

TEST_CASE("while a journal file cannot be read no attempt starts, and active attempts continue") {
    Farm farm;
    farm.tick();
    testing::write(farm.site.state_directory / "attempts" / "wbroken.json", "{");
    farm.site.wants.push_back({"demo", {"1.1"}, {"3.11"}});
    const TickReport report = farm.tick();
    REQUIRE(report.journal_problems.size() == 1);
    CHECK(report.journal_problems.front().text().find("wbroken.json") != std::string::npos);
    CHECK(report.plan.start_nothing.find("wbroken.json") != std::string::npos);
    CHECK(report.plan.count(CellState::have) == 1);
    CHECK(report.plan.count(CellState::wanted) == 1);
    CHECK(farm.attempts().size() == 1);
}

TEST_CASE("retry of a cell without an ended attempt is an error") {
    Farm farm;
    Agent agent(farm.parts());
    const auto nothing = agent.retry("demo-1.0-cp311");
    REQUIRE(!nothing.has_value());
    CHECK(nothing.error().code == "retry.nothing");
}

TEST_CASE("a wheel that was deleted from the index is not built again automatically") {
    Farm farm;
    farm.settle();
    fs::remove(farm.folder.path() / "index" / "demo-1.0-py3-none-any.whl");
    const TickReport report = farm.settle();
    CHECK(report.plan.cells.front().state == CellState::given_up);
    CHECK(farm.builds() == 1);
    CHECK(Agent(farm.parts()).retry("demo-1.0-cp311").value() ==
          "demo-1.0-cp311 did not fail; the next `tick` or `run` builds it again only if its wheel is no "
          "longer there");
}

TEST_CASE("a wheel that another agent has just uploaded counts as present, not as deleted") {
    Farm farm;
    Agent one(farm.parts());
    REQUIRE(one.tick().has_value());  // the index had nothing yet
    Agent other(farm.parts());
    for (int tick = 0; tick < 3; ++tick)
        REQUIRE(other.tick().has_value());
    REQUIRE(farm.attempts().front().state == State::done);
    const auto report = one.tick();  // at once, while its view of the index is recent
    REQUIRE(report.has_value());
    CHECK(cell_state_text(report->plan.cells.front().state) == "have");
}

// A site whose jobs are offline: steps on the login node fetch their packages. The fake Python treats such a step
// like a build: the farm's files `break`, `says` and `gate` apply to it, too.
struct OfflineFarm : Farm {
    OfflineFarm() { site.offline_jobs = true; }
    // Ticks, and waits for steps, until `is_enough`; limited.
    template <class Enough>
    TickReport tick_until(Enough is_enough) {
        for (int count = 0; count < 3'000; ++count) {
            TickReport report = tick();
            if (is_enough(report)) return report;
            base::SystemClock().sleep_ms(20);  // a step is running, and its end must be polled
        }
        FAIL("the farm did not reach the expected state");
        return {};
    }
    TickReport settle() {
        return tick_until([](const TickReport& report) {
            return report.active.empty() && report.plan.count(CellState::wanted) == 0;
        });
    }
};

TEST_CASE("a wheelhouse that fails is tried as often as a build, and its log has the first error") {
    OfflineFarm farm;
    testing::write(farm.folder.path() / "break", "");
    const TickReport report = farm.settle();
    CHECK(report.plan.count(CellState::given_up) == 1);
    REQUIRE(farm.attempts().size() == static_cast<std::size_t>(farm.site.max_attempts));
    const Failure failure = *farm.attempts().back().failure;
    CHECK(failure.phase == "prepare");
    CHECK(failure.error.code == "source.step");
    CHECK(failure.error.value.ends_with("wheelhouse.log"));
    CHECK(failure.first_error == "x.c:1:1: error: it is broken");
}

TEST_CASE("a wheelhouse error that only a person can fix is not tried again") {
    OfflineFarm farm;
    testing::write(farm.folder.path() / "says",
                   "ERROR: No matching distribution found for nobody-has-this\n");
    CHECK(farm.settle().plan.count(CellState::given_up) == 1);
    REQUIRE(farm.attempts().size() == 1);
    CHECK(farm.attempts().front().failure->cause == "pip.no_version");
    CHECK(farm.attempts().front().failure->error.advice.find("retry") != std::string::npos);
}

TEST_CASE("a wheelhouse that cannot reach its index waits, reports it once, and costs no attempt") {
    OfflineFarm farm;
    testing::write(farm.folder.path() / "says", "ssh: Could not resolve host: index.example.org\n");
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().size() == 1);
    CHECK(std::count_if(farm.notes.begin(), farm.notes.end(), [](const std::string& note) {
              return note.find("Could not resolve host") != std::string::npos;
          }) == 1);
}

TEST_CASE("after max_login_waits network errors in a wheelhouse's log the attempt fails") {
    OfflineFarm farm;
    const auto says = [&] {
        testing::write(farm.folder.path() / "says", "Could not resolve host: index.example.org\n");
    };
    says();
    farm.tick_until([&](const TickReport&) {
        Attempt attempt = farm.attempts().front();
        if (attempt.waiting.tries == 0) return false;
        attempt.waiting.tries = max_login_waits;
        REQUIRE(farm.journal->write(attempt).has_value());
        says();
        return true;
    });
    farm.settle();
    REQUIRE(farm.attempts().size() == 2);
    CHECK(farm.attempts().front().failure->error.code == "source.step");
}

TEST_CASE("cancelling an attempt also cancels its step on the login node") {
    OfflineFarm farm;
    REQUIRE(::mkfifo((farm.folder.path() / "gate").c_str(), 0600) == 0);
    farm.tick();
    const Attempt attempt = farm.attempts().front();
    const fs::path marker = farm.site.work_directory / "attempts" / attempt.id / "wheelhouse.alive";
    CHECK(attempt.state == State::fetched);
    CHECK(attempt.waiting.what == WaitFor::login_step);
    CHECK(fs::exists(marker));
    Agent agent(farm.parts());
    REQUIRE(agent.cancel(attempt.id).has_value());
    CHECK(!fs::exists(marker));  // without it the step ends
    // Releases a step that still waits at the gate.
    const int gate = ::open((farm.folder.path() / "gate").c_str(), O_RDONLY | O_NONBLOCK);
    ::close(gate);
}

}  // namespace
}  // namespace wheelyard::builder
