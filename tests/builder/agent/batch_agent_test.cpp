// The agent with a batch system whose answers the test sets: queueing, refusals, ends, and the next attempt.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "builder/agent/agent.hpp"
#include "builder/attempt/job_end.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/commands/commands.hpp"
#include "builder/plan/request.hpp"
#include "builder/show/report.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/steps/steps.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Records the submitted jobs; runs them, as the prompt scheduler does, only if `run` is set.
class FakeBatchSystem final : public Scheduler {
  public:
    explicit FakeBatchSystem(Scheduler& runner) : runner_(runner) {}
    base::Status submit(const JobRequest& job) override {
        ++asked;
        if (refusal && (!refuses || refuses(job))) return base::fail(*refusal);
        given.push_back(job);
        return run ? runner_.submit(job) : base::Status();
    }
    std::map<std::string, JobView> poll(const std::map<std::string, AttemptFolder>& attempts) override {
        if (polled) polled();
        std::map<std::string, JobView> views;
        for (const auto& [attempt, folder] : attempts)
            views.emplace(attempt, view);
        return views;
    }
    base::Status cancel(const std::string& attempt, const AttemptFolder&) override {
        cancelled.push_back(attempt);
        return {};
    }
    [[nodiscard]] bool is_batch_system() const override { return true; }

    JobView view{JobState::queued, "Slurm job 1, PENDING Priority", {}};
    std::optional<base::Error> refusal;
    std::function<bool(const JobRequest&)> refuses;  // empty: every job
    std::function<void()> polled;
    int asked = 0;
    bool run = false;
    std::vector<JobRequest> given;
    std::vector<std::string> cancelled;

  private:
    Scheduler& runner_;
};

struct BatchFarm : testing::Farm {
    FakeBatchSystem batch{prompt};
    BatchFarm() { scheduler = &batch; }
    Attempt only() {
        REQUIRE(attempts().size() == 1);
        return attempts().front();
    }
    void end_as(EndCause cause) {
        batch.view = {JobState::vanished, "", JobEnd{cause, {}, "its word", {60, 30, 1024}}};
    }
};

TEST_CASE("a queued job may wait without limit and is submitted only once") {
    BatchFarm farm;
    for (int count = 0; count < 20; ++count)
        farm.tick();
    CHECK(farm.batch.given.size() == 1);
    CHECK(farm.only().state == State::submitting);
    CHECK(farm.only().waiting.reason == "in the queue: Slurm job 1, PENDING Priority");
}

TEST_CASE("after a temporary refusal there is no job, and the same attempt is submitted later") {
    BatchFarm farm;
    farm.site.queue.queue = "main";
    farm.batch.refusal =
        no_job_created("PBS accepts no jobs at the moment", "qsub: in maintenance until 18:00");
    farm.tick();
    const TickReport held = farm.tick();
    CHECK(farm.only().state == State::prepared);
    CHECK(farm.only().job.submits == 0);
    CHECK(farm.only().waiting.what == WaitFor::submission);
    CHECK(held.plan.cells.front().reason == "prepared, waits for queue `main` to take jobs again");
    REQUIRE(held.plan.held_queues.size() == 1);
    CHECK(held.plan.held_queues.front().reason == "qsub: in maintenance until 18:00");
    CHECK(render_plan(held.plan, false).find(": qsub: in maintenance until 18:00") != std::string::npos);
    CHECK(farm.batch.asked == 2);
    // Reported only once: cron mails every line.
    CHECK(std::count_if(farm.notes.begin(), farm.notes.end(), [](const std::string& note) {
              return note.find("qsub: in maintenance until 18:00") != std::string::npos;
          }) == 1);
    farm.clock.sleep_ms(max_error_wait_ms * 2);  // a maintenance of a week
    farm.tick();
    CHECK(farm.only().state == State::prepared);
    farm.batch.refusal.reset();
    CHECK(farm.tick().plan.held_queues.empty());
    CHECK(farm.only().state == State::submitting);
    CHECK(farm.batch.given.size() == 1);
    CHECK(farm.batch.given.front().label == "test/demo-1.0-cp311");
}

TEST_CASE(
    "a queue that nothing needs any more is not held: its site file names another, or its job is cancelled") {
    for (const bool is_cancelled : {true, false}) {
        CAPTURE(is_cancelled);
        BatchFarm farm;
        farm.site.queue.queue = "main";
        farm.batch.refusal = no_job_created("no", "qsub: Access to queue is denied");
        REQUIRE(farm.tick().plan.held_queues.size() == 1);
        if (is_cancelled) {
            REQUIRE(Agent(farm.parts()).cancel("demo-1.0-cp311").has_value());
            CHECK(farm.tick().plan.held_queues.empty());
            continue;
        }
        farm.site.queue.queue = "open";
        farm.batch.refusal.reset();
        CHECK(farm.tick().plan.held_queues.empty());
        CHECK(farm.only().state == State::submitting);
    }
}

TEST_CASE("a queue that refuses gets one job at a time, no cell ends, and all go on by themselves") {
    BatchFarm farm;
    farm.site.max_jobs = 10;
    farm.site.wants = {{"demo", {"1.0", "1.1", "1.2", "1.3", "1.4", "1.5"}, {"3.11"}}};
    farm.batch.refusal = no_job_created("no", "request rejected as filter hook 'h' got an alarm call");
    for (int ticks = 1; ticks <= 12; ++ticks) {
        const TickReport report = farm.tick();
        CHECK(farm.batch.asked == ticks);
        CHECK(report.plan.count(CellState::given_up) == 0);
    }
    CHECK(farm.attempts().size() <= max_refused_jobs);
    farm.batch.refusal.reset();
    for (int ticks = 0; ticks < 6; ++ticks)
        farm.tick();
    CHECK(farm.batch.given.size() == 6);
    for (const Attempt& attempt : farm.attempts())
        CHECK(attempt.number == 1);
}

TEST_CASE("one job that a hook always refuses does not hold up the others") {
    BatchFarm farm;
    farm.site.max_jobs = 10;
    farm.site.wants = {{"demo", {"1.0", "1.1", "1.2", "1.3"}, {"3.11"}}};
    farm.batch.refusal = no_job_created("no", "qsub: this node type is for paying projects");
    farm.batch.refuses = [](const JobRequest& job) { return job.label.ends_with("demo-1.0-cp311"); };
    for (int ticks = 0; ticks < 12; ++ticks)
        farm.tick();
    CHECK(farm.batch.given.size() == 3);
    CHECK(farm.attempts().size() == 4);
}

TEST_CASE("a held queue of tests does not hold up builds for another queue") {
    BatchFarm farm;
    farm.batch.run = true;
    REQUIRE(farm.settle().plan.count(CellState::have) == 1);
    farm.site.queue.queue = "main";
    farm.site.hardware_tests.gpu = QueueSettings{"gpu", "", 0, {}};
    Recipe recipe = farm.recipes.of("demo");
    recipe.gpu_test.command = "true";
    farm.recipes.add(recipe);
    farm.batch.refusal = no_job_created("no", "qsub: the GPU nodes are in maintenance");
    farm.batch.refuses = [](const JobRequest& job) { return job.queue != nullptr; };
    farm.site.max_jobs = 1;
    for (int ticks = 0; ticks < 3; ++ticks)
        farm.tick();
    farm.site.wants = {{"demo", {"1.0", "1.1", "1.2"}, {"3.11"}}};
    const std::size_t before = farm.batch.given.size();
    farm.batch.view = {JobState::vanished, "", JobEnd{EndCause::cancelled, {}, "its word", {}}};
    farm.batch.run = false;
    for (int ticks = 0; ticks < 6; ++ticks)
        farm.tick();
    CHECK(farm.batch.given.size() == before + 2);
}

TEST_CASE("the jobs of a package with an account of its own are charged to it") {
    for (const char* package : {"demo", "other"}) {
        BatchFarm farm;
        farm.site.queue.account = "proj1";
        farm.site.accounts = {{package, "proj2"}};
        std::string account;
        farm.batch.refusal = no_job_created("no", "never");
        farm.batch.refuses = [&](const JobRequest& job) {
            account = job.queue == nullptr ? farm.site.queue.account : job.queue->account;
            return false;
        };
        farm.tick();
        CHECK(account == (std::string_view(package) == "demo" ? "proj2" : "proj1"));
    }
}

TEST_CASE("what a hook granted instead of the request is recorded, and explained") {
    BatchFarm farm;
    farm.site.minutes = farm.site.max_walltime_minutes = 90;
    farm.site.memory_mib = 4000;
    farm.tick();
    farm.batch.view.granted = {60, 2000};
    farm.tick();
    CHECK(farm.only().job.granted == JobGrant{60, 2000});
    const std::string story = render_story({farm.only().asked.cell, {}, farm.attempts()});
    CHECK(story.find("requested   4000 MiB, 90 minutes\n") != std::string::npos);
    CHECK(story.find("granted     2000 MiB, 60 minutes\n") != std::string::npos);
    farm.tick();
    CHECK(farm.only().waiting.what == WaitFor::queue);
    farm.batch.view = {JobState::running, "", {}, false, {90, 4000}};  // qalter
    farm.tick();
    farm.tick();
    CHECK(farm.only().job.granted == JobGrant{});
}

TEST_CASE("while a batch system answers slowly, the poll keeps the lock") {
    BatchFarm farm;
    farm.tick();
    base::Status kept;
    farm.batch.polled = [&] {
        farm.clock.sleep_ms(lock_refresh_every_ms * 2);
        fs::remove(farm.journal->lock_file());  // another node's tick takes over
        kept = farm.batch.keep_alive();
    };
    const auto ticked = Agent(farm.parts()).tick();
    REQUIRE_FALSE(kept.has_value());
    CHECK(kept.error().kind == base::ErrorKind::lost);
    CHECK_FALSE(ticked.has_value());
}

TEST_CASE("a job that its scheduler dropped each time is explained with its id, queue and limits") {
    BatchFarm farm;
    farm.site.minutes = farm.site.max_walltime_minutes = 90;
    farm.site.max_attempts = 1;
    farm.batch.view = {
        JobState::unclaimed, "PBS accepted job 7.pbshost in queue route, and does not know it any more",
        JobEnd{EndCause::dropped, {}, "job 7.pbshost in queue route; limits: small: walltime = 1:00:00", {}}};
    CHECK(farm.settle().plan.count(CellState::given_up) == 1);
    CHECK(farm.batch.given.size() == max_submits);
    const base::Error error = farm.only().failure->error;
    CHECK(error.code == "job.dropped");
    CHECK(error.value ==
          "job 7.pbshost in queue route; limits: small: walltime = 1:00:00; requested: 90 minutes, 0 MiB; "
          "submitted 3 times");
}

TEST_CASE("an attempt that waits for a person keeps no other one from probing a held queue") {
    BatchFarm farm;
    farm.site.max_jobs = 10;
    farm.batch.refusal = no_job_created("no", "qsub: in maintenance until 18:00");
    farm.tick();
    for (const bool waits : {true, false}) {
        CAPTURE(waits);
        Attempt other = farm.attempts().front();
        other.id = "w1other";
        other.asked.version = "1.1";
        other.asked.cell = "demo-1.1-cp311";
        other.state = State::planned;
        other.waiting = {};
        other.waiting.what = waits ? WaitFor::person : WaitFor::nothing;
        other.waiting.not_before = farm.clock.now() + max_wait_ms * 1000;
        testing::must(farm.journal->write(other));
        farm.site.wants = {{"demo", {"1.0", "1.1", waits ? "1.2" : "1.3"}, {"3.11"}}};
        farm.tick();
        const auto attempts = farm.attempts();
        const bool is_prepared = std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& one) {
            return one.asked.version == (waits ? "1.2" : "1.3");
        });
        CHECK(is_prepared == waits);
    }
}

TEST_CASE("jobs that vanished and are refused since then hold no job slots; they go on within the limit") {
    BatchFarm farm;
    farm.site.max_jobs = 2;
    farm.site.wants = {{"demo", {"1.0", "1.1"}, {"3.11"}}};
    farm.tick();
    REQUIRE(farm.batch.given.size() == 2);
    farm.batch.view = {JobState::unclaimed, "", {}};  // the batch system lost its jobs
    farm.tick();
    farm.batch.refusal = no_job_created("no", "qsub: in maintenance until 18:00");
    for (int ticks = 1; ticks <= 4; ++ticks) {
        farm.tick();
        CHECK(farm.batch.asked == 2 + ticks);
    }
    CHECK(count_slots(farm.attempts()).jobs == 0);
    for (const Attempt& attempt : farm.attempts()) {
        CHECK(attempt.state == State::submitting);  // an earlier job that comes late is still found
        CHECK(attempt.job.submits == 1);
    }
    farm.site.max_jobs = 1;
    farm.batch.refusal.reset();
    farm.tick();
    CHECK(farm.batch.given.size() == 3);
    CHECK(count_slots(farm.attempts()).jobs == 1);
}

TEST_CASE("retry takes every cell that is given up, or those with one code") {
    BatchFarm farm;
    farm.site.max_jobs = 10;
    farm.site.wants = {{"demo", {"1.0", "1.1", "1.2"}, {"3.11"}}};
    farm.batch.refusal =
        request_refused("PBS rejects the job", "qsub: Unknown resource: nosuch", "[scheduler]");
    farm.batch.refuses = [](const JobRequest& job) { return !job.label.ends_with("demo-1.2-cp311"); };
    for (int ticks = 0; ticks < 4; ++ticks)
        farm.tick();
    farm.end_as(EndCause::cancelled);
    REQUIRE(farm.tick().plan.count(CellState::given_up) == 3);
    Agent agent(farm.parts());
    CHECK(agent.retry_given_up("job.time_limit", true).error().code == "retry.nothing");
    const auto superseded = [&farm] {
        const auto attempts = farm.attempts();
        return std::count_if(attempts.begin(), attempts.end(),
                             [](const Attempt& one) { return one.superseded; });
    };
    const auto refused = agent.retry_given_up("scheduler.refused", true);
    REQUIRE(refused.has_value());
    CHECK(*refused ==
          "the next `tick` or `run` builds demo-1.0-cp311 again\nthe next `tick` or `run` builds "
          "demo-1.1-cp311 again");
    CHECK(superseded() == 2);
    REQUIRE(agent.retry_given_up("", true).has_value());
    CHECK(superseded() == 3);
    CHECK(agent.retry_given_up("", true).error().code == "retry.nothing");
}

TEST_CASE(
    "retry of every cell leaves those that nobody wants any more, also while the registry does not answer") {
    for (const bool is_down : {false, true}) {
        CAPTURE(is_down);
        BatchFarm farm;
        farm.site.max_jobs = 10;
        farm.site.wants = {{"demo", {"1.0", "1.1"}, {"3.11"}}};
        farm.batch.refusal =
            request_refused("PBS rejects the job", "qsub: Unknown resource: nosuch", "[scheduler]");
        farm.settle();
        farm.site.wants = {{"demo", {"1.1"}, {"3.11"}}};
        farm.registry.down = is_down;
        const auto done = Agent(farm.parts()).retry_given_up("", true);
        REQUIRE(done.has_value());
        CHECK(*done == "the next `tick` or `run` builds demo-1.1-cp311 again");
        for (const Attempt& attempt : farm.attempts())
            CHECK(attempt.superseded == (attempt.asked.version == "1.1"));
    }
}

TEST_CASE("the advice of a failure is a command to paste, with the cell and the site file") {
    BatchFarm farm;
    farm.site.file = "/etc/wheel yard/site.toml";
    farm.batch.refusal =
        request_refused("PBS rejects the job", "qsub: Unknown queue", "[scheduler] in site.toml");
    farm.settle();
    CHECK(farm.only().failure->error.advice.starts_with(
        "fix [scheduler] in site.toml, then run: wheelyard-builder retry demo-1.0-cp311 --site "
        "'/etc/wheel yard/site.toml'"));
}

TEST_CASE("every command in the table of job ends is completed when an attempt fails") {
    Site site;
    site.file = "/etc/site.toml";
    for (const EndRow& end : end_rows()) {
        CAPTURE(end.advice);
        const std::string advice = complete_commands(std::string(end.advice), "demo-1.0-cp311", "w1", site);
        for (std::size_t at = advice.find("wheelyard-builder "); at != std::string::npos;
             at = advice.find("wheelyard-builder ", at + 1)) {
            const std::string command = advice.substr(at);
            CHECK((command.starts_with(pasted_command("retry", "demo-1.0-cp311", site)) ||
                   command.starts_with(pasted_command("logs", "w1", site))));
        }
        CHECK((advice.find("its log") == std::string::npos ||
               advice.find(pasted_command("logs", "w1", site)) != std::string::npos));
    }
    // It also ends one whose scheduler reports exit status 0.
    CHECK(end_row(EndCause::unexplained).sentence.find("record was not written") != std::string::npos);
}

TEST_CASE("after a lost answer the job is searched by name before another submission") {
    BatchFarm farm;
    farm.batch.refusal = job_may_exist("no", "");
    farm.tick();
    CHECK(farm.only().state == State::submitting);
    farm.batch.refusal.reset();
    farm.batch.view = {JobState::unknown, "cannot be asked", {}};
    farm.tick();
    CHECK(farm.batch.given.empty());
    farm.batch.view = {JobState::queued, "it is there", {}};
    farm.tick();
    CHECK(farm.batch.given.empty());
    farm.batch.view = {JobState::unclaimed, "Slurm knows no job of this name", {}};
    farm.tick();
    CHECK(farm.batch.given.empty());
    farm.tick();
    CHECK(farm.batch.given.size() == 1);
}

TEST_CASE("a final refusal and a job that can never run end the cell with the reason") {
    BatchFarm refused;
    refused.batch.refusal = base::Error{"scheduler.refused", "no"};
    CHECK(refused.settle().plan.count(CellState::given_up) == 1);
    CHECK(refused.only().failure->error.code == "scheduler.refused");
    // The advice names the key that decides each size.
    CHECK(refused.only().failure->error.advice.find(
              "Its first job requests cores = 1 (scheduler.cores of the") != std::string::npos);

    BatchFarm hopeless;
    hopeless.batch.view.end = JobEnd{EndCause::cannot_ever_run, {}, "PENDING PartitionTimeLimit", {}};
    CHECK(hopeless.settle().plan.count(CellState::given_up) == 1);
    CHECK(hopeless.only().failure->error.code == "job.cannot_run");
    CHECK(hopeless.only().failure->error.advice.find(". Its first job requests ") != std::string::npos);
    CHECK(hopeless.batch.cancelled == std::vector<std::string>{hopeless.only().id});
}

TEST_CASE("every end without a record has a code, and the table decides whether it is tried again") {
    for (const auto cause : {EndCause::killed, EndCause::time_limit, EndCause::out_of_memory,
                             EndCause::node_failure, EndCause::preempted, EndCause::requeued,
                             EndCause::cancelled, EndCause::not_launched, EndCause::failed}) {
        BatchFarm farm;
        farm.tick();
        farm.end_as(cause);
        farm.tick();
        const Attempt first = farm.attempts().front();
        CAPTURE(end_row(cause).code);
        REQUIRE(first.failure.has_value());
        CHECK(first.failure->error.code == end_row(cause).code);
        CHECK(first.failure->error.value == "its word");
        CHECK(first.job.end->used == JobUsage{60, 30, 1024});
        CHECK((farm.attempts().size() == 2) == end_row(cause).try_again);
    }
}

TEST_CASE("a cell that is preempted repeatedly is given up at the limit for preemptions") {
    BatchFarm farm;
    farm.site.max_attempts = 1;
    farm.site.max_preemptions = 4;
    farm.tick();
    farm.end_as(EndCause::preempted);
    SUBCASE("every job is preempted") {
        const TickReport report = farm.settle();
        CHECK(report.plan.count(CellState::given_up) == 1);
        CHECK(report.plan.cells.front().reason ==
              "4 of 4 preemptions; the last in job: The job was preempted by one with higher priority");
        CHECK(farm.batch.given.size() == 4);
    }
    SUBCASE("the fourth job is not preempted") {
        farm.tick();
        farm.tick();
        REQUIRE(farm.batch.given.size() == 3);
        farm.batch.run = true;
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.attempts().size() == 4);
        CHECK(farm.builds() == 1);
    }
}

TEST_CASE("a build that recorded success has succeeded, whatever the scheduler reports") {
    BatchFarm farm;
    farm.batch.run = true;
    farm.tick();
    farm.end_as(EndCause::out_of_memory);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE(
    "after a successful job the attempt waits a limited time for the record, however long the job ran") {
    BatchFarm farm;
    farm.batch.run = true;
    farm.tick();
    const fs::path record = farm.site.work_directory / "attempts" / farm.only().id / "exit.json";
    fs::rename(record, record.string() + ".unseen");  // like a network file system that shows it later
    farm.batch.view = {JobState::running, "", {}};
    farm.tick();  // ten minutes pass
    REQUIRE(farm.only().state == State::running);
    farm.batch.view = {JobState::vanished, "", JobEnd{EndCause::unexplained, 0, "COMPLETED", {}}};
    const base::UnixMicros ended = farm.clock.now();
    farm.tick();
    CHECK(farm.only().state == State::running);
    SUBCASE("the record appears") {
        fs::rename(record.string() + ".unseen", record);
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.builds() == 1);
    }
    const std::string job = farm.only().id;
    const auto failure = [&] {  // by id: the order of attempts depends on clocks
        const auto attempts = farm.attempts();
        return std::find_if(attempts.begin(), attempts.end(), [&](const Attempt& a) { return a.id == job; })
            ->failure;
    };
    SUBCASE("another login node, whose clock is slightly ahead, saw the end first") {
        farm.clock.set(ended - claim_grace_ms * 500);
        farm.tick();
        CHECK_FALSE(failure().has_value());
    }
    SUBCASE("the wait does not grow after the clock stepped back") {
        farm.clock.set(ended - claim_grace_ms * 2000);
        farm.tick();
        REQUIRE(failure().has_value());
        CHECK(failure()->error.code == "job.vanished");
    }
    SUBCASE("the wait lasts a minute") {
        farm.clock.set(ended + claim_grace_ms * 500);
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.vanished");
    }
}

TEST_CASE("after a recorded failure the attempt waits a limited time for the scheduler's reason") {
    BatchFarm farm;
    farm.batch.run = true;
    testing::write(farm.folder.path() / "break", "");
    constexpr std::int64_t tick_us = max_wait_ms * 2 * 1000;  // the farm's clock advances by this per tick
    constexpr std::int64_t year_us = 365LL * 86'400 * 1'000'000;
    const base::UnixMicros of_the_job = base::SystemClock().now();
    SUBCASE("the node's clock is a year ahead: its times are ignored") {
        farm.clock.set(of_the_job - year_us);
        farm.tick();
        farm.batch.view = {JobState::running, "", {}};
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.failed");
        return;
    }
    farm.clock.set(of_the_job - tick_us);
    farm.tick();
    SUBCASE("the scheduler reports a reason") {
        farm.batch.view = {JobState::running, "", {}};
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.end_as(EndCause::preempted);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.preempted");
        CHECK(farm.attempts().front().job.exit_code == 1);
    }
    SUBCASE("the scheduler never reports a reason") {
        farm.batch.view = {JobState::unknown, "away", {}};
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.clock.set(farm.clock.now() + 10 * year_us);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.failed");
    }
}

// The record of a build that a signal ended, and what job.sh recorded as the reason for it.
struct CutFarm : BatchFarm {
    explicit CutFarm(const std::string& cut) {
        tick();
        const auto attempt = site.work_directory / "attempts" / only().id;
        fs::create_directory(attempt / "claim");
        testing::write(attempt / "cut", cut + "\n");
        testing::write(attempt / "exit.json",
                       R"({"format":"wheelyard.exit/1","attempt":")" + only().id +
                           R"(","exit_code":143,"phase":"build","phases":[],"ended_ms":)" +
                           std::to_string(clock.now() / 1000) + "}");
    }
    std::string code() {
        tick();
        return attempts().front().failure ? attempts().front().failure->error.code : "";
    }
};

TEST_CASE("the scheduler's status outranks the job's own alarm") {
    struct Row {
        const char* cut;
        EndCause reported;
        const char* code;
    };
    const Row rows[] = {
        {"time_limit", EndCause::cancelled, "job.cancelled"},
        {"time_limit", EndCause::preempted, "job.preempted"},
        {"time_limit", EndCause::requeued, "job.requeued"},
        {"time_limit", EndCause::node_failure, "job.node_failure"},
        {"time_limit", EndCause::killed, "job.time_limit"},  // the exit code of a build that was warned
        {"time_limit", EndCause::unexplained, "job.time_limit"},
        {"terminated", EndCause::cancelled, "job.cancelled"},
        {"terminated", EndCause::time_limit, "job.time_limit"},
        {"terminated", EndCause::unexplained, "job.killed"},  // a server without job history
    };
    for (const auto& row : rows) {
        CAPTURE(row.cut);
        CAPTURE(end_row(row.reported).code);
        CutFarm farm(row.cut);
        farm.end_as(row.reported);
        CHECK(farm.code() == row.code);
    }
}

TEST_CASE("a job that its scheduler queued again is cancelled, and costs none of the attempts") {
    CutFarm farm("terminated");
    farm.site.max_attempts = 1;
    farm.batch.view = {JobState::queued, "", JobEnd{EndCause::requeued, {}, "PBS job 5, queued", {}}};
    const std::string job = farm.only().id;
    CHECK(farm.code() == "job.requeued");
    CHECK(farm.batch.cancelled == std::vector<std::string>{job});
    CHECK(farm.attempts().size() == 2);
}

TEST_CASE("a suspended job is shown as waiting until it runs again") {
    BatchFarm farm;
    farm.tick();
    farm.batch.view = {JobState::running, "PBS job 5, suspended", {}, true};
    farm.tick();
    CHECK(farm.only().state == State::running);
    CHECK(waiting_suffix(farm.only().waiting) ==
          ", waiting: its scheduler has suspended it: PBS job 5, suspended");
    farm.batch.view = {JobState::running, "PBS job 5, running", {}};
    farm.tick();
    CHECK(farm.only().waiting.reason.empty());
}

TEST_CASE(
    "a running job that the batch system does not know is lost after a minute of such answers, uncancelled") {
    BatchFarm farm;
    farm.tick();
    const JobView running{JobState::running, "Slurm job 1, RUNNING", {}};
    const JobView missing{JobState::vanished, "squeue lists no job of this name", {}};
    fs::create_directory(farm.site.work_directory / "attempts" / farm.only().id / "claim");
    const auto answer = [&](const JobView& view, std::int64_t after_ms) {
        farm.clock.sleep_ms(after_ms);
        farm.batch.view = view;
        REQUIRE(Agent(farm.parts()).tick().has_value());
        return farm.attempts().front();
    };
    answer(running, 1);
    for (int times = 0; times < 3; ++times) {
        answer(missing, 1'000);
        const Attempt attempt = answer(missing, claim_grace_ms / 2);
        CHECK(attempt.state == State::running);
        CHECK(attempt.waiting.reason.ends_with(
            ": squeue lists no job of this name, and there is no exit record yet"));
        CHECK(answer(times == 1 ? JobView{JobState::unknown, "no answer", {}} : running, claim_grace_ms)
                  .job.ended == 0);
    }
    answer(missing, 1);
    const Attempt lost = answer(missing, claim_grace_ms);
    REQUIRE(lost.failure.has_value());
    CHECK(lost.failure->error.code == "job.vanished");
    CHECK(lost.failure->error.value == missing.detail);
    CHECK(farm.batch.cancelled.empty());
}

TEST_CASE(
    "a queued job that the batch system does not know is submitted again after a minute of such answers") {
    BatchFarm farm;
    const JobView queued = farm.batch.view;
    farm.tick();
    for (int times = 0; times < max_submits + 1; ++times) {
        farm.batch.view = {JobState::unclaimed, "squeue lists no job of this name", {}};
        farm.tick();
        CHECK(farm.only().waiting.reason.ends_with(": squeue lists no job of this name"));
        farm.batch.view = queued;
        farm.tick();
    }
    CHECK(farm.batch.given.size() == 1);
    farm.batch.view = {JobState::unclaimed, "squeue lists no job of this name", {}};
    farm.tick();
    farm.tick();
    CHECK(farm.batch.given.size() == 2);
}

TEST_CASE("a tick does not wait for a wheelhouse that it begins to fill") {
    BatchFarm farm;
    farm.site.offline_jobs = true;
    Agent agent(farm.parts());
    const base::UnixMicros before = farm.clock.now();  // a clock on which only waits pass
    REQUIRE(agent.tick().has_value());
    CHECK(farm.only().waiting.what == WaitFor::login_step);
    CHECK(farm.clock.now() == before);
    REQUIRE(agent.cancel(farm.only().id).has_value());
}

TEST_CASE("a tick that starts, watches or ends several attempts waits for none of them") {
    BatchFarm farm;
    farm.site.max_jobs = 3;
    farm.site.max_attempts = 1;
    farm.site.wants = {{"demo", {"1.0", "1.1", "1.2"}, {"3.11"}}};
    const auto check_tick = [&] {
        const base::UnixMicros before = farm.clock.now();  // a clock on which only waits pass
        REQUIRE(Agent(farm.parts()).tick().has_value());
        CHECK(farm.clock.now() == before);
        farm.clock.sleep_ms(max_wait_ms * 2);
    };
    for (int count = 0; count < 4; ++count)
        check_tick();
    CHECK(farm.batch.given.size() == 3);
    farm.end_as(EndCause::node_failure);
    for (int count = 0; count < 4; ++count)
        check_tick();
    CHECK(farm.batch.given.size() > 3);
}

TEST_CASE("a work folder that others may write stops every tick") {
    BatchFarm farm;
    testing::must(base::make_directories(farm.site.work_directory));
    fs::permissions(farm.site.work_directory, fs::perms::all);
    const auto ticked = Agent(farm.parts()).tick();
    REQUIRE(!ticked.has_value());
    CHECK(ticked.error().code == "work.shared");
    CHECK(farm.batch.given.empty());
}

TEST_CASE("cancelling an attempt cancels its job and prevents late starts; retry starts a new attempt") {
    BatchFarm farm;
    farm.tick();
    Agent agent(farm.parts());
    REQUIRE(agent.cancel("demo-1.0-cp311").has_value());
    CHECK(farm.batch.cancelled == std::vector<std::string>{farm.only().id});
    CHECK(farm.only().failure->error.code == "job.cancelled");
    CHECK(fs::exists(farm.site.work_directory / "attempts" / farm.only().id / "claim"));
    CHECK(farm.tick().plan.count(CellState::given_up) == 1);
    CHECK(agent.cancel("demo-1.0-cp311").error().code == "cancel.nothing");
    farm.batch.run = true;
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().size() == 2);
}

TEST_CASE("a refusal after a lost submission prevents a late job of it from building") {
    BatchFarm farm;
    farm.batch.refusal = job_may_exist("no", "");
    farm.tick();
    farm.batch.refusal = base::Error{"scheduler.refused", "no"};
    farm.batch.view = {JobState::unclaimed, "Slurm knows no job of this name", {}};
    const fs::path claim = farm.site.work_directory / "attempts" / farm.only().id / "claim";
    farm.tick();
    SUBCASE("the claim is taken and the job cancelled") {
        farm.tick();
        CHECK(farm.only().failure->error.code == "scheduler.refused");
        CHECK(fs::exists(claim));
        CHECK(farm.batch.cancelled == std::vector<std::string>{farm.only().id});
    }
    SUBCASE("the job has already claimed: the attempt continues") {
        fs::create_directory(claim);
        farm.tick();
        CHECK(farm.only().state == State::submitting);
        CHECK(farm.batch.cancelled.empty());
    }
}

TEST_CASE("if a job's tree is in use by another job, the next attempt gets its own tree") {
    BatchFarm farm;
    farm.tick();
    const auto folder = farm.site.work_directory / "attempts" / farm.only().id;
    fs::create_directory(folder / "claim");
    testing::write(folder / "exit.json", R"({"format":"wheelyard.exit/1","attempt":")" + farm.only().id +
                                             R"(","exit_code":75,"phase":"fence","phases":[],"ended_ms":1})");
    farm.end_as(EndCause::failed);
    farm.tick();
    REQUIRE(farm.attempts().size() == 2);
    CHECK(farm.attempts().front().failure->error.code == "job.tree_busy");
    CHECK(farm.attempts().back().job.builds_in.empty());
}

TEST_CASE("a tree is continued once its patches are in it: a job that was cut before leaves none") {
    for (const bool is_ready : {true, false}) {
        CAPTURE(is_ready);
        BatchFarm farm;
        farm.tick();
        const Attempt first = farm.only();
        Attempt next = first;
        next.id = "w1ng00000000000";
        next.job.builds_in = first.id;
        next.state = State::fetched;
        auto parts = farm.parts();
        const fs::path ready = parts.folder_of(first).build() / "tree_ready";
        if (is_ready) testing::write(ready, "");
        REQUIRE(prepare_build(next, parts).has_value());
        CHECK(next.job.builds_in == (is_ready ? first.id : ""));
        CHECK(fs::exists(ready) == is_ready);
        // Only the script of an own tree applies patches, and says so.
        for (const auto& [attempt, own] : {std::pair(first, true), std::pair(next, !is_ready)}) {
            const std::string script = testing::read(parts.folder_of(attempt).script());
            CHECK((script.find("/tree_ready\"") != std::string::npos) == own);
        }
    }
}

TEST_CASE("a job that was asked to end continues in its tree, also if its scheduler does not know why") {
    struct Row {
        std::optional<JobEnd> reported;
        const char* code;
    };
    const Row rows[] = {{std::nullopt, "job.killed"},
                        {JobEnd{EndCause::failed, 143, "FAILED", {}}, "job.killed"},
                        {JobEnd{EndCause::preempted, 143, "PREEMPTED", {}}, "job.preempted"},
                        {JobEnd{EndCause::cancelled, 143, "CANCELLED", {}}, "job.cancelled"}};
    for (const Row& row : rows) {
        CAPTURE(row.code);
        BatchFarm farm;
        farm.tick();
        const std::string id = farm.only().id;
        const auto folder = farm.site.work_directory / "attempts" / id;
        fs::create_directory(folder / "claim");
        testing::write(folder / "cut", "terminated\n");
        testing::write(folder / "log", "ninja: build stopped: interrupted by user.\n");
        testing::write(folder / "exit.json",
                       R"({"format":"wheelyard.exit/1","attempt":")" + id +
                           R"(","exit_code":143,"phase":"build","phases":[],"ended_ms":1})");
        farm.batch.view = {JobState::vanished, "", row.reported};
        farm.tick();
        REQUIRE(farm.attempts().front().failure.has_value());
        CHECK(farm.attempts().front().failure->error.code == row.code);
        CHECK(resumes_after(*farm.attempts().front().failure, Site()));
    }
}

TEST_CASE("of a job that ended from outside, the log explains nothing but the machine") {
    struct Row {
        EndCause cause;
        const char* log;
        const char* first_error;
    };
    const char* const harmless = "fatal: not a git repository (or any of the parent directories): .git\n";
    const char* const machine = "write error: No space left on device\n";
    const Row rows[] = {
        {EndCause::time_limit, harmless, ""},
        {EndCause::preempted, harmless, ""},
        {EndCause::node_failure, harmless, ""},
        {EndCause::node_failure, machine, "write error: No space left on device"},
        {EndCause::time_limit,
         "fatal: not a git repository (or any of the parent directories): .git\n"
         "@@wheelyard stop requested: time_limit\n",
         "@@wheelyard stop requested: time_limit"},
        {EndCause::unexplained, harmless,
         "fatal: not a git repository (or any of the parent directories): .git"},
    };
    for (const Row& row : rows) {
        CAPTURE(end_row(row.cause).code);
        CAPTURE(row.log);
        BatchFarm farm;
        farm.tick();
        testing::write(farm.site.work_directory / "attempts" / farm.only().id / "log", row.log);
        farm.end_as(row.cause);
        farm.settle();
        REQUIRE(farm.attempts().front().failure.has_value());
        CHECK(farm.attempts().front().failure->first_error == row.first_error);
    }
}

TEST_CASE("after a time limit the next attempt requests twice the time, up to the site's maximum") {
    BatchFarm farm;
    farm.site.minutes = 30;
    farm.site.max_walltime_minutes = 100;
    farm.tick();
    farm.end_as(EndCause::time_limit);
    farm.settle();
    std::vector<std::int64_t> requested;
    for (const JobRequest& job : farm.batch.given)
        requested.push_back(job.max_walltime_minutes);
    // Those of the largest limit are the max_attempts.
    CHECK(requested == std::vector<std::int64_t>{30, 60, 100, 100, 100});
}

TEST_CASE("a build tree is made for the bounds of its requirements: other bounds change its key") {
    const auto pairs = [](const std::string& allowed) {
        const auto rows = parse_version_pairs(
            "config_version = 1\npair = [{ package = \"demo\", with = \"cmake\", allowed = \"" + allowed +
                "\", use = \"build\", source = \"s\" }]\n[sources]\ns = \"https://example.org/s\"\n",
            "versions.toml");
        REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
        return *rows;
    };
    BatchFarm farm;
    farm.site.version_pairs = pairs("<4");
    const auto next_key = [&farm] {
        farm.tick();
        const Attempt last = farm.attempts().back();
        farm.end_as(EndCause::time_limit);
        return testing::read(farm.site.work_directory / "attempts" / last.id / "build_key");
    };
    const std::string key = next_key();
    SUBCASE("the same bounds") {
        CHECK(next_key() == key);
    }
    SUBCASE("other bounds") {
        farm.site.version_pairs = pairs("<5");
        CHECK(next_key() != key);
    }
    REQUIRE(farm.attempts().size() == 2);
}

}  // namespace
}  // namespace wheelyard::builder
