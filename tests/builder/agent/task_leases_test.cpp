#include "builder/agent/task_leases.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>

#include "builder/attempt/limits.hpp"
#include "builder/commands/tick_until.hpp"
#include "tests/builder/folder_tasks.hpp"
#include "tests/support/sdist_writer.hpp"

namespace wheelyard::builder::testing {
namespace {

constexpr const char* wheel_name = "demo-1.0-py3-none-any.whl";

// A site without wants, whose index has one task for it.
struct TaskFarm : Farm {
    FolderTasks tasks{folder.path() / "queue", registry};

    TaskFarm() {
        site.wants.clear();
        site.registry->claim_tasks = "recipes";
    }
    uid_t user = 1000;
    bool is_unread = false;  // of a claim that a test reads itself
    AgentParts parts_with_tasks(const std::string& failpoint = {}) {
        AgentParts all = parts(failpoint);
        all.tasks = &tasks;
        all.user = user;
        return all;
    }
    TickReport tick() {
        Agent agent(parts_with_tasks());
        auto report = agent.tick();
        REQUIRE_MESSAGE(report.has_value(), report.error().text());
        clock.sleep_ms(max_wait_ms * 2);
        return std::move(*report);
    }
    // Ticks until the task has its outcome; returns the last report.
    TickReport tick_until_outcome() {
        TickReport report;
        for (int count = 0; count < 20 && !tasks.outcome(); ++count)
            report = tick();
        REQUIRE(tasks.outcome().has_value());
        return report;
    }
    // Ticks until the wheel is built and waits, because staging is busy.
    void wait_with_wheel() {
        tasks.staging.busy = true;
        tick();
        tick();
        REQUIRE(attempts().size() == 1);
        REQUIRE(attempts().front().state == State::uploading);
    }
    [[nodiscard]] bool has_failed(Purpose purpose) const {
        const std::vector<Attempt> all = attempts();
        return std::any_of(all.begin(), all.end(), [&](const Attempt& attempt) {
            return attempt.asked.purpose == purpose && attempt.state == State::failed;
        });
    }
    int tick_in_child(const std::string& failpoint) {
        return testing::tick_in_child(*this, parts_with_tasks(failpoint));
    }
    [[nodiscard]] std::size_t claims() const {
        std::error_code ignored;
        const fs::directory_iterator entries(site.state_directory / "claims", ignored);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
};

}  // namespace

TEST_CASE("a claimed task is built like a want, uploaded to staging, and its outcome is sent") {
    TaskFarm farm;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->wheel.filename == "demo-1.0-py3-none-any.whl");
    CHECK(farm.tasks.uploads == 1);
    CHECK(farm.tasks.staging.has(wheel_name));
    CHECK_FALSE(farm.registry.has(wheel_name));
    CHECK(farm.registry.uploads == 0);
    CHECK(farm.builds() == 1);
    CHECK(farm.claims() == 0);
    CHECK(farm.tasks.offered.packages == std::vector<std::string>{"demo"});
    CHECK(farm.tasks.offered.pythons == std::vector<std::string>{"3.11"});
    farm.tick();
    CHECK(farm.builds() == 1);
    CHECK(farm.tasks.ends == 1);
}

TEST_CASE("a task whose wheel is in staging counts as done in the plan, and so does the site's own want") {
    TaskFarm farm;
    SUBCASE("only the task wants the wheel") {}
    SUBCASE("the site file wants it, too") {
        farm.site.wants = {{"demo", {"1.0"}, {"3.11"}}};
    }
    const bool is_own = !farm.site.wants.empty();
    const Plan plan = farm.tick_until_outcome().plan;
    REQUIRE(plan.cells.size() == 1);
    CHECK(cell_state_text(plan.cells[0].state) == "have");
    CHECK(plan.cells[0].reason == std::string(wheel_name) + " in index `staging`");
    CHECK(farm.tick().plan.count(CellState::have) == (is_own ? 1 : 0));
    CHECK(farm.builds() == 1);
    CHECK_FALSE(farm.registry.has(wheel_name));
}

TEST_CASE("claim_tasks decides whether a site claims nothing or any package") {
    TaskFarm farm;
    farm.site.registry->claim_tasks = "no";
    farm.tick();
    CHECK(farm.tasks.requests == 0);
    farm.site.registry->claim_tasks = "any";
    farm.tick();
    CHECK_FALSE(farm.tasks.offered.packages.has_value());
}

TEST_CASE("a task of a package that nobody asked for is judged in the tick that claims it") {
    TaskFarm farm;
    farm.site.max_jobs = 1;
    farm.site.registry->claim_tasks = "any";
    Agent agent(farm.parts_with_tasks());
    const auto tick = [&agent, &farm] {
        auto report = agent.tick();
        REQUIRE_MESSAGE(report.has_value(), report.error().text());
        farm.clock.sleep_ms(1);
        return std::move(*report);
    };
    for (int count = 0; count < 20 && farm.tasks.ends == 0; ++count)
        tick();
    farm.tasks.request.package = "other";
    farm.tasks.ask_again();
    const int requests = farm.tasks.requests;
    const TickReport report = tick();
    REQUIRE(farm.tasks.requests > requests);
    CHECK(report.plan.count(CellState::unknown) == 0);
    CHECK(farm.tasks.ends == 2);  // it has no source here, which is known at once
}

TEST_CASE("no more tasks are claimed than there are free slots") {
    TaskFarm farm;
    farm.site.max_jobs = 0;
    farm.tick();
    CHECK(farm.tasks.requests == 0);
    farm.site.max_jobs = 1;
    farm.tasks.staging.busy = true;  // the job has ended: the wheel waits, and the slot is free
    farm.tick();
    CHECK(farm.tasks.requests == 1);
}

TEST_CASE("a run ends when the registry has no more tasks, not with those of its slots") {
    TaskFarm farm;
    farm.site.max_jobs = 1;
    Agent agent(farm.parts_with_tasks());
    const auto tick = [&agent] {
        auto report = agent.tick();
        REQUIRE_MESSAGE(report.has_value(), report.error().text());
        return std::move(*report);
    };
    for (int number = 1; number <= 3; ++number) {
        TickReport report;
        for (int count = 0; count < 20 && farm.tasks.ends < number; ++count) {
            report = tick();
            farm.clock.sleep_ms(1);  // of one run: long before the agent would ask again by itself
            if (farm.tasks.ends < number) CHECK_FALSE(is_settled(report));
        }
        REQUIRE(farm.tasks.ends == number);
        CHECK(report.may_claim);
        CHECK_FALSE(is_settled(report));
        if (number < 3) farm.tasks.ask_again();
    }
    const TickReport last = tick();
    CHECK_FALSE(last.may_claim);
    CHECK(is_settled(last));
    const int requests = farm.tasks.requests;
    tick();
    CHECK(farm.tasks.requests == requests);  // it does not ask again at each tick
}

TEST_CASE(
    "a run does not wait for tasks of a registry that is down, nor for those that no slot is free for") {
    TaskFarm farm;
    farm.tasks.queued = false;
    SUBCASE("down") {
        farm.tasks.down = true;
    }
    SUBCASE("no slot") {
        farm.site.max_jobs = 0;
    }
    SUBCASE("not asked for any") {
        farm.site.registry->claim_tasks = "no";
    }
    CHECK(is_settled(farm.tick()));
}

TEST_CASE("while the registry is down nothing is lost, and nothing is reported twice") {
    TaskFarm farm;
    const auto waits = [&farm] {
        return std::count(farm.notes.begin(), farm.notes.end(), "waits: The registry is down");
    };
    farm.tasks.down = true;
    farm.tick();
    farm.tick();
    CHECK(waits() == 1);  // each tick is another process, and cron mails every line
    CHECK_FALSE(farm.tasks.is_claimed());
    farm.tasks.down = false;
    farm.tick();
    CHECK(farm.tasks.is_claimed());
    CHECK(farm.claims() == 1);
    farm.tasks.down = true;
    farm.notes.clear();
    for (int count = 0; count < 3; ++count)
        farm.tick();
    CHECK(waits() <= 2);  // once for the tasks, once for the wheel
    CHECK_FALSE(farm.tasks.outcome().has_value());
    farm.tasks.down = false;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 1);
}

TEST_CASE("after a kill at any step of a task, the next ticks converge: one claim, one build, one outcome") {
    std::set<std::string> stopped;
    for (const auto point : task_failpoints) {
        CAPTURE(point);
        TaskFarm farm;
        for (int tick = 0; tick < 4 && !stopped.contains(std::string(point)); ++tick) {
            if (farm.tick_in_child(std::string(point)) == 137) stopped.insert(std::string(point));
        }
        for (int tick = 0; tick < 6; ++tick)
            farm.tick();
        REQUIRE(farm.tasks.outcome().has_value());
        CHECK(farm.tasks.outcome()->done);
        CHECK(farm.builds() == 1);
        CHECK(farm.attempts().size() == 1);
        CHECK(farm.claims() == 0);
    }
    CHECK(stopped.size() == task_failpoints.size());
}

TEST_CASE(
    "what was freed because the site was late is taken again, also after a lost answer, and its build is "
    "reused") {
    for (const bool loses_answer : {false, true}) {
        CAPTURE(loses_answer);
        TaskFarm farm;
        farm.wait_with_wheel();
        farm.tasks.free_late(false);
        if (loses_answer) {
            farm.tasks.loses_answer = true;
            farm.tick();
            REQUIRE(farm.tasks.is_claimed());
            farm.tasks.free_late(false);
        }
        farm.tasks.staging.busy = false;
        farm.tick_until_outcome();
        CHECK(farm.tasks.outcome()->done);
        CHECK(farm.builds() == 1);
        CHECK(farm.attempts().size() == 1);
        CHECK(farm.claims() == 0);
    }
}

TEST_CASE("one request is the sign of life for all tasks, and a refused one drops none") {
    TaskFarm farm;
    const ClaimFolder claims(farm.site.state_directory / "claims");
    for (const char digit : {'1', '2', '3'}) {
        ClaimRecord record;
        record.task.id = std::string("t") + digit;
        record.task.request = farm.tasks.request;
        must(claims.write(record));
    }
    const AgentParts parts = farm.parts_with_tasks();
    std::vector<Attempt> attempts;
    farm.tasks.refusal =
        base::fail_as(base::ErrorKind::unavailable, base::Recovery::retry, {"test.no_answer", "No"}).value();
    TaskLeases refused(parts);
    refused.read();
    must(refused.renew(attempts));
    CHECK(farm.tasks.requests == 1);
    CHECK(farm.tasks.offered.tasks == std::vector<std::string>{"t1", "t2", "t3"});
    CHECK(farm.tasks.offered.room == 0);
    CHECK(claims.read(farm.is_unread).size() == 3);
    farm.tasks.refusal.reset();
    TaskLeases work(parts);
    work.read();
    must(work.renew(attempts));  // the registry has t1 alone
    CHECK(farm.claims() == 1);
}

TEST_CASE("a site asks several times while it has its tasks, however short that is") {
    TaskFarm farm;
    const AgentParts parts = farm.parts_with_tasks();
    TaskLeases work(parts);
    work.read();
    std::vector<Attempt> attempts;
    const auto renewals_after = [&](std::int64_t wait_ms) {
        farm.clock.sleep_ms(wait_ms);
        const int before = farm.tasks.requests;
        must(work.renew(attempts));
        return farm.tasks.requests - before;
    };
    farm.tasks.lease_s = 30;
    must(work.claim(1, attempts));
    CHECK(renewals_after(world_fresh_ms) == 1);
    farm.tasks.lease_s = 600;
    CHECK(renewals_after(10'000) == 1);  // a third of 30 s
    CHECK(renewals_after(10'000) == 0);
    CHECK(renewals_after(world_fresh_ms - 10'000) == 1);
}

TEST_CASE("a site says that it lives during a long upload") {
    TaskFarm farm;
    int renewals = 0;
    farm.tasks.during = [&](const io::HttpProgress& progress) {
        const int before = farm.tasks.requests;
        for (int piece = 0; piece < 4; ++piece) {
            farm.clock.sleep_ms(200'000);  // a third of the lease
            CHECK(progress(1, 10));
        }
        renewals = farm.tasks.requests - before;
        CHECK(farm.tasks.offered.room == 0);
    };
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(renewals == 4);
}

TEST_CASE("a token that is refused at the upload of a task pauses uploads, and a person is told") {
    TaskFarm farm;
    farm.tasks.staging.unauthorised = true;
    farm.tick();
    const TickReport report = farm.tick();
    REQUIRE(farm.attempts().size() == 1);
    CHECK(farm.attempts().front().state == State::uploading);
    CHECK(farm.attempts().front().wheel.sends == 0);
    CHECK(farm.tasks.uploads > 0);
    CHECK(report.uploads_paused.has_value());
    farm.tasks.staging.unauthorised = false;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
}

TEST_CASE("a wheel whose task was lost during its upload is not published, and delays no other") {
    TaskFarm farm;
    farm.tasks.during = [&](const io::HttpProgress&) { farm.tasks.free_late(true); };
    farm.tick();
    const TickReport report = farm.tick();
    CHECK(farm.tasks.uploads > 0);
    CHECK_FALSE(farm.tasks.staging.has(wheel_name));
    CHECK_FALSE(report.uploads_paused.has_value());
    farm.tick();
    CHECK(farm.claims() == 0);
    CHECK(farm.attempts().front().failure->error.code == "task.lost");
}

TEST_CASE("an agent that moves to another login node names those where it asked for its tasks") {
    TaskFarm farm;
    farm.wait_with_wheel();
    const ClaimFolder claims(farm.site.state_directory / "claims");
    ClaimRecord record = claims.read(farm.is_unread).at(0);
    const std::string here = farm.tasks.offered.agent;
    CHECK(record.agents == std::vector<std::string>{here});
    CHECK(farm.tasks.offered.agents.empty());
    record.agents = {"test.login9"};
    must(claims.write(record));
    farm.tasks.rename_agent("test.login9");
    farm.tasks.down = true;  // its request may have come through: both names count from here on
    farm.tick();
    CHECK(claims.read(farm.is_unread).at(0).agents == std::vector<std::string>{"test.login9", here});
    farm.tasks.down = false;
    farm.tasks.staging.busy = false;
    farm.tick();
    CHECK(farm.tasks.offered.agents == std::vector<std::string>{"test.login9"});
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 1);
}

TEST_CASE(
    "if a task's Python was removed from the site, the task ends with that reason and its attempt is given "
    "up") {
    TaskFarm farm;
    farm.wait_with_wheel();
    farm.add_python("3.12", 12);
    farm.pythons.erase("3.11");
    farm.tick();
    REQUIRE(farm.tasks.outcome().has_value());
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->diagnosis->error.sentence.find("no Python of this version") !=
          std::string::npos);
    CHECK(farm.claims() == 0);
    CHECK(farm.attempts().front().failure->error.code == "task.lost");
}

TEST_CASE("a task whose cell was renamed is built under the new name") {
    TaskFarm farm;
    farm.wait_with_wheel();
    Recipe recipe = farm.recipes.of("demo");
    recipe.labelled = true;
    farm.recipes.add(recipe);
    farm.site.label = "yard";
    farm.offer_wheel(demo_wheel("1.0+yard"));
    farm.tasks.staging.busy = false;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->wheel.filename == "demo-1.0+yard-py3-none-any.whl");
    CHECK(farm.attempts().front().failure->error.code == "task.lost");
    CHECK(farm.claims() == 0);
}

TEST_CASE("while a task's Python does not answer, it is not offered and nothing is given up") {
    TaskFarm farm;
    farm.wait_with_wheel();
    const Python python = *farm.pythons.at("3.11");
    farm.pythons.insert_or_assign("3.11", base::fail("python.missing", "Its file system is away"));
    farm.tick();
    farm.tick();
    CHECK(farm.tasks.offered.pythons.empty());
    CHECK(farm.claims() == 1);
    CHECK_FALSE(farm.tasks.outcome().has_value());
    farm.pythons.insert_or_assign("3.11", python);
    farm.tasks.staging.busy = false;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a task whose Python does not answer takes no slot from other tasks") {
    TaskFarm farm;
    farm.site.max_jobs = 1;
    CHECK(farm.tick_in_child("task.recorded") != 0);
    REQUIRE(farm.claims() == 1);
    const Python python = *farm.pythons.at("3.11");
    farm.tick();  // its job begins
    CHECK(farm.tasks.offered.room == 0);
    CHECK(farm.builds() == 1);

    TaskFarm without;
    without.site.max_jobs = 1;
    CHECK(without.tick_in_child("task.recorded") != 0);
    without.pythons.insert_or_assign("3.12", python);
    without.pythons.insert_or_assign("3.11", base::fail("python.missing", "Its file system is away"));
    without.tick();
    CHECK(without.tasks.offered.pythons == std::vector<std::string>{"3.12"});
    CHECK(without.tasks.offered.room == 1);
    CHECK(without.claims() == 1);
}

TEST_CASE("a task ends after its wheel's test and promotion, in this order, or when a test fails") {
    for (const bool passes : {true, false}) {
        CAPTURE(passes);
        TaskFarm farm;
        farm.tasks.target = "test";
        farm.site.registry->promote_to = "stable";
        farm.site.hardware_tests.gpu = QueueSettings();
        Recipe recipe = farm.recipes.of("demo");
        recipe.gpu_test.command = passes ? "true" : "echo 'the GPU is not there'; exit 1";
        farm.recipes.add(recipe);
        farm.site.max_attempts = 1;
        for (int count = 0; count < 20 && !farm.tasks.outcome(); ++count) {
            farm.tick();
            const bool is_settled =
                passes ? farm.registry.promoted().contains(wheel_name) : farm.has_failed(Purpose::gpu_test);
            CHECK(farm.tasks.outcome().has_value() == is_settled);
        }
        REQUIRE(farm.tasks.outcome().has_value());
        CHECK(farm.registry.has(wheel_name));
        CHECK(farm.tasks.outcome()->done == passes);
        CHECK(farm.registry.promotions == (passes ? 1 : 0));
        CHECK(farm.tasks.outcome()->purpose == (passes ? "build" : "gpu-test"));
        CHECK(farm.claims() == 0);
    }
}

TEST_CASE("an attempt whose task another site has is given up, unless the site file wants it, too") {
    for (const bool wanted : {false, true}) {
        CAPTURE(wanted);
        TaskFarm farm;
        if (wanted) farm.site.wants = {{"demo", {"1.0"}, {"3.11"}}};
        farm.registry.busy = true;
        farm.wait_with_wheel();
        farm.tasks.free_late(true);
        farm.tick();
        CHECK(farm.claims() == 0);
        CHECK(farm.attempts().front().state == (wanted ? State::uploading : State::failed));
        farm.registry.busy = farm.tasks.staging.busy = false;
        farm.tick();
        CHECK_FALSE(farm.tasks.staging.has(wheel_name));
        CHECK(farm.registry.has(wheel_name) == wanted);
        CHECK(farm.attempts().front().state == (wanted ? State::done : State::failed));
        CHECK_FALSE(farm.tasks.outcome().has_value());
    }
}

TEST_CASE("after a kill between losing a task and giving up its attempt, the next tick gives it up") {
    TaskFarm farm;
    farm.wait_with_wheel();
    farm.tasks.free_late(true);
    CHECK(farm.tick_in_child(std::string(task_lost_failpoint)) == 137);
    REQUIRE(farm.claims() == 0);
    REQUIRE(farm.attempts().front().state == State::uploading);
    farm.tasks.staging.busy = false;
    farm.tick();
    CHECK(farm.attempts().front().failure->error.code == "task.lost");
    CHECK(farm.registry.uploads == 0);  // no upload with the site's own token
    CHECK_FALSE(farm.tasks.staging.has(wheel_name));
}

TEST_CASE("without its record a task's wheel waits, until the registry has said again that the site has it") {
    TaskFarm farm;
    farm.wait_with_wheel();
    CHECK(farm.attempts().front().asked.for_task);
    farm.tasks.staging.busy = false;
    for (const auto& entry : fs::directory_iterator(farm.site.state_directory / "claims"))
        write(entry.path(), "{");
    farm.tick();
    CHECK(farm.registry.uploads == 0);
    CHECK(farm.attempts().front().state == State::uploading);
    CHECK(farm.attempts().front().waiting.reason.find("task") != std::string::npos);
    CHECK_FALSE(farm.tasks.staging.has(wheel_name));
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.registry.uploads == 0);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a new task supersedes earlier attempts even if the first answer to its claim is lost") {
    TaskFarm farm;
    farm.site.max_attempts = 1;
    write(farm.folder.path() / "break", "");
    farm.tick_until_outcome();
    REQUIRE_FALSE(farm.tasks.outcome()->done);
    fs::remove(farm.folder.path() / "break");
    farm.tasks.ask_again();
    CHECK(farm.tick_in_child("task.claimed") == 137);  // the answer is lost
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 2);
}

TEST_CASE("cancelling a task cancels its attempt") {
    TaskFarm farm;
    farm.tasks.staging.busy = true;
    farm.tick();
    farm.tasks.cancel();
    farm.tick();
    CHECK(farm.claims() == 0);
    CHECK(farm.attempts().front().state == State::failed);
}

TEST_CASE("a failed build ends its task with the diagnosis; a new request builds it again") {
    TaskFarm farm;
    farm.site.max_attempts = 2;
    write(farm.folder.path() / "break", "");
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    REQUIRE(farm.tasks.outcome()->diagnosis.has_value());
    CHECK(farm.tasks.outcome()->diagnosis->first_error.find("it is broken") != std::string::npos);
    CHECK(farm.builds() == 2);
    farm.tick();
    CHECK(farm.builds() == 2);

    fs::remove(farm.folder.path() / "break");
    farm.tasks.ask_again();
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 3);
}

TEST_CASE("a secret in the line that says why a build failed does not leave the site") {
    TaskFarm farm;
    farm.site.max_attempts = 1;
    write(farm.folder.path() / "says", "x.c:1:1: error: https://me:hunter2@index.example refuses\n");
    farm.tick_until_outcome();
    REQUIRE(farm.tasks.outcome()->diagnosis.has_value());
    CHECK(farm.tasks.outcome()->diagnosis->first_error.find("refuses") != std::string::npos);
    CHECK(wire::render_outcome(*farm.tasks.outcome()).find("hunter2") == std::string::npos);
}

TEST_CASE("a task for a wheel that the index already has is done without a build") {
    TaskFarm farm;
    farm.site.wants = {{"demo", {"1.0"}, {"3.11"}}};
    farm.tasks.queued = false;
    for (int count = 0; count < 4; ++count)
        farm.tick();
    REQUIRE(farm.builds() == 1);
    fs::remove_all(farm.site.state_directory / "attempts");
    fs::create_directory(farm.site.state_directory / "attempts");
    farm.site.wants.clear();
    farm.tasks.queued = true;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->wheel.filename == "demo-1.0-py3-none-any.whl");
    CHECK_FALSE(farm.tasks.outcome()->wheel.sha256.empty());
    CHECK(farm.builds() == 1);
}

TEST_CASE("a task that this site cannot build fails at once") {
    TaskFarm farm;
    farm.site.known_bad.push_back({"demo", *wheel::SpecifierSet::parse("==1.0"), {}, "it crashes here", ""});
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->diagnosis->error.sentence.find("it crashes here") != std::string::npos);
    CHECK(farm.builds() == 0);
}

TEST_CASE(
    "a task for a version that no row of the version pairs covers fails at once, and says how it is built") {
    TaskFarm farm;
    const auto pairs = parse_version_pairs(
        "config_version = 1\npair = [{ package = \"demo\", versions = \"==0.9.*\", with = \"python\", "
        "allowed = \">=3.8\", use = "
        "\"machine\", "
        "source = \"s\" }]\n[sources]\ns = \"https://example.org/\"\n",
        "versions.toml");
    REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
    farm.site.version_pairs = *pairs;
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->diagnosis->error.sentence.find("no row for demo 1.0 with python") !=
          std::string::npos);
    CHECK(farm.tasks.outcome()->diagnosis->error.sentence.find("build_unknown") != std::string::npos);
    CHECK(farm.builds() == 0);
}

namespace {

// Runs the file in FOLDER/separate with that folder's path, as the mount would show it.
constexpr std::string_view fake_bubblewrap = R"sh(#!/bin/bash
test "$1" != --help || exit
while test "$1" != /bin/bash; do shift; done
file=$2
shift 2
case "$file" in */fetch/fetch.sh) exec /bin/bash "$file" "$@" ;; esac
folder=${file%/*}
sed "s#$folder#$folder/separate#g" "$folder/separate/${file##*/}" > "$folder/separate/mapped.sh"
exec /bin/bash "$folder/separate/mapped.sh" "$@"
)sh";

// The registry has an sdist of the task's project, and the site can separate its build.
struct UploadFarm : TaskFarm {
    test_support::SdistWriter sdist{"demo", "1.0"};

    // What it installs is fetched by processes beside the agent.
    TickReport tick_until_outcome() {
        TickReport report;
        for (int count = 0; count < 3'000 && !tasks.outcome(); ++count) {
            report = tick();
            base::SystemClock().sleep_ms(20);
        }
        REQUIRE(tasks.outcome().has_value());
        return report;
    }

    UploadFarm() {
        site.registry->claim_tasks = "any";
        write(folder.path() / "index" / sdist.filename(), sdist.bytes());
        tasks.request.source =
            wire::UploadedSource{"ours", sdist.filename(), base::sha256_hex(sdist.bytes())};
        write(folder.path() / "bwrap", fake_bubblewrap, 0755);
        write(folder.path() / "governor", fake_bound, 0755);
        site.governor.program = folder.path() / "governor";
        pythons.at("3.11")->prefix = folder.path() / "python";
        site.uploaded_sources = UploadedSources{folder.path() / "bwrap", {folder.path() / "python"}};
    }
};

}  // namespace

TEST_CASE("a task's uploaded source is built in a namespace, in no tree of other builds") {
    UploadFarm farm;
    farm.tick_until_outcome();
    const Attempt attempt = farm.attempts().front();
    CHECK_MESSAGE(farm.tasks.outcome()->done, (attempt.failure ? attempt.failure->error.text() : ""));
    CHECK(farm.tasks.offered.uploads.builds);
    CHECK(farm.tasks.staging.has(wheel_name));
    CHECK(attempt.job.tree.empty());
    CHECK(attempt.source.sha256 == farm.tasks.request.source->sha256);
    CHECK(attempt.source.origin.find("/ours/files/") != std::string::npos);
    CHECK(attempt.asked.uploaded == farm.tasks.request.source);
    CHECK(farm.tasks.outcome()->source.sha256 == farm.tasks.request.source->sha256);
    CHECK(farm.tasks.staging.provenance.find(farm.tasks.request.source->sha256) != std::string::npos);
    CHECK_FALSE(fs::exists(farm.site.work_directory / "trees"));
    CHECK_FALSE(
        fs::exists(farm.site.work_directory / "attempts" / attempt.id / "separate"));  // removed after it
}

TEST_CASE("an uploaded source never runs on a site that does not separate, whatever the registry sends") {
    UploadFarm farm;
    SUBCASE("the site file has no [uploaded_sources]") {
        farm.site.uploaded_sources.reset();
    }
    SUBCASE("pip's configuration has a password") {
        farm.pip.values["index-url"] = {"https://anna:secret@wheels.example/simple/", "test"};
    }
    SUBCASE("the build could read the agent's state") {
        farm.site.uploaded_sources->readable.push_back(farm.folder.path());
    }
    SUBCASE("the agent runs as root") {
        farm.user = 0;
    }
    SUBCASE("the program is missing") {
        fs::remove(farm.folder.path() / "bwrap");
    }
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.offered.uploads.builds);
    CHECK_FALSE(farm.tasks.offered.uploads.reason.empty());
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.tasks.outcome()->diagnosis->error.sentence.find(farm.tasks.offered.uploads.reason) !=
          std::string::npos);
    CHECK(farm.attempts().empty());
    CHECK(farm.builds() == 0);
}

TEST_CASE("a recipe that pins another source refuses an uploaded one, and other bytes are not built") {
    UploadFarm farm;
    SUBCASE("pinned") {
        Recipe recipe = farm.recipes.of("demo");
        recipe.source = SourceKind::sdist;
        recipe.sha256["1.0"] = std::string(64, '0');
        farm.recipes.add(recipe);
    }
    SUBCASE("changed") {
        write(farm.folder.path() / "index" / farm.sdist.filename(), "other bytes");
    }
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 0);
}

TEST_CASE("a build that exceeds a limit fails for good, and says which") {
    UploadFarm farm;
    std::string where;
    SUBCASE("in its job") {
        where = "script.sh";
    }
    SUBCASE("while the login node asks what it installs") {
        where = "ask.sh";
    }
    write(farm.folder.path() / "governor",
          "#!/bin/bash\ncase \"$*\" in *" + where +
              "*)\n"
              "    echo 'fork: retry: Resource temporarily unavailable'\n"
              "    echo 'wheelyard-governor: the build was ended: more memory than its limit of 8 GiB'; exit "
              "122 ;;\nesac\n" +
              std::string(fake_bound.substr(fake_bound.find('\n') + 1)),
          0755);
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    REQUIRE(farm.attempts().size() == 1);
    const Failure failure = *farm.attempts().front().failure;
    CHECK(failure.error.code == "job.over_limit");
    CHECK(failure.error.text().find("more memory than its limit of 8 GiB") != std::string::npos);
    CHECK_FALSE(failure.try_again);
}

TEST_CASE("a link among the results of an uploaded source is not followed") {
    UploadFarm farm;
    const std::string wheel = (farm.folder.path() / "prebuilt" / wheel_name).string();
    write(farm.folder.path() / "bwrap",
          "#!/bin/bash\nfolder=$(dirname \"${!#}\")\ntest -e \"$folder/claim\" || exit 0\nmkdir "
          "\"$folder/separate/wheel\"\nln -s '" +
              wheel + "' \"$folder/separate/wheel\"\n",
          0755);
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.attempts().front().failure->error.code == "wheel.count");
}

TEST_CASE("an uploaded source's build is neither continued nor repeated") {
    UploadFarm farm;
    write(farm.folder.path() / "break", "");
    farm.tick_until_outcome();
    CHECK_FALSE(farm.tasks.outcome()->done);
    CHECK(farm.attempts().front().failure->phase == "build");  // the phase inside the namespace
    for (const Attempt& attempt : farm.attempts())
        CHECK(attempt.job.builds_in.empty());
    fs::remove(farm.folder.path() / "break");
    farm.tasks.ask_again();
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    Agent agent(farm.parts_with_tasks());
    CHECK(agent.reproduce("demo-1.0-cp311").error().code == "reproduce.uploaded");
}

TEST_CASE("a claim file is read as it was written; a malformed file is an error") {
    ClaimRecord record;
    record.task.id = "t1";
    record.task.request = {"test", "demo", "1.0", "3.11", ""};
    record.index = "staging";
    record.cell = "demo-1.0-cp311";
    record.agents = {"test.login1", "test.login2"};
    const auto back = parse_claim_record(render_claim_record(record));
    REQUIRE(back.has_value());
    CHECK(render_claim_record(*back) == render_claim_record(record));
    CHECK_FALSE(parse_claim_record("{}").has_value());
}

TEST_CASE("an agent goes on with the tasks of one of an earlier version, and forgets its unanswered claims") {
    TaskFarm farm;
    farm.wait_with_wheel();
    const fs::path folder = farm.site.state_directory / "claims";
    const ClaimRecord record = ClaimFolder(folder).read(farm.is_unread).at(0);
    fs::remove_all(folder);
    fs::create_directories(folder);
    const auto write_earlier = [&](char digit, const std::string& members) {
        const std::string claim(32, digit);
        write(folder / (claim + ".json"),
              R"({"format":"wheelyard.claim_record/1","claim":")" + claim + R"(",)" + members + "}");
    };
    write_earlier('1', R"("asking":false,"task":)" + wire::task_json(record.task).render() +
                           R"(,"waits":"","index":"","cell":"demo-1.0-cp311")");
    write_earlier('2', R"("asking":true,"task":null,"waits":"","index":"","cell":"")");
    CHECK(ClaimFolder(folder).read(farm.is_unread).size() == 1);
    CHECK_FALSE(farm.is_unread);
    farm.tasks.staging.busy = false;
    farm.tick_until_outcome();
    CHECK(farm.tasks.outcome()->done);
    CHECK(farm.builds() == 1);
    CHECK(farm.claims() == 0);
}

}  // namespace wheelyard::builder::testing
