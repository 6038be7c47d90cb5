// The agent over a batch system that answers as a test says: waiting, refusals, ends, and what the next
// attempt does.
#include <doctest/doctest.h>

#include <algorithm>

#include "builder/agent/agent.hpp"
#include "builder/attempt/limits.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

// Keeps what it is given; runs a job, as the prompt scheduler does, only when told.
class ToldScheduler final : public Scheduler {
  public:
    explicit ToldScheduler(Scheduler& runner) : runner_(runner) {}
    base::Status submit(const JobRequest& job) override {
        if (refusal) return base::fail(*refusal);
        given.push_back(job);
        return run ? runner_.submit(job) : base::Status();
    }
    std::map<std::string, JobView> poll(const std::map<std::string, AttemptFolder>& attempts) override {
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
    bool run = false;
    std::vector<JobRequest> given;
    std::vector<std::string> cancelled;

  private:
    Scheduler& runner_;
};

struct BatchFarm : testing::Farm {
    ToldScheduler told{prompt};
    BatchFarm() { scheduler = &told; }
    Attempt only() {
        REQUIRE(attempts().size() == 1);
        return attempts().front();
    }
    void end_as(EndCause cause) {
        told.view = {JobState::vanished, "", JobEnd{cause, {}, "its word", {60, 30, 1024}}};
    }
};

TEST_CASE("a job in the queue is waited for, for as long as it takes, and is submitted once") {
    BatchFarm farm;
    for (int count = 0; count < 20; ++count)
        farm.tick();
    CHECK(farm.told.given.size() == 1);
    CHECK(farm.only().state == State::submitting);
    CHECK(farm.only().waiting.reason == "in the queue: Slurm job 1, PENDING Priority");
}

TEST_CASE("a refusal for now leaves nothing to look for, and the same attempt is submitted later") {
    BatchFarm farm;
    farm.told.refusal = not_now("no", "");
    farm.tick();
    farm.tick();
    CHECK(farm.only().state == State::prepared);
    CHECK(farm.only().submits == 0);
    CHECK(farm.only().waiting.tries == 2);  // asked less and less often, and said once: cron sends mail
    CHECK(std::count_if(farm.notes.begin(), farm.notes.end(),
                        [](const std::string& note) { return note.starts_with("waits: "); }) == 1);
    farm.told.refusal.reset();
    farm.tick();
    CHECK(farm.only().state == State::submitting);
    CHECK(farm.told.given.size() == 1);
}

TEST_CASE("an answer that got lost is looked for by name before anything is submitted again") {
    BatchFarm farm;
    farm.told.refusal = unsure("no", "");
    farm.tick();
    CHECK(farm.only().state == State::submitting);
    farm.told.refusal.reset();
    farm.told.view = {JobState::unknown, "cannot be asked", {}};
    farm.tick();
    CHECK(farm.told.given.empty());
    farm.told.view = {JobState::queued, "it is there", {}};
    farm.tick();
    CHECK(farm.told.given.empty());
    farm.told.view = {JobState::unclaimed, "Slurm knows no job of this name", {}};
    farm.tick();
    CHECK(farm.told.given.size() == 1);
}

TEST_CASE("a refusal for good and a job that can never run end the task with the reason") {
    BatchFarm refused;
    refused.told.refusal = base::Error{"scheduler.refused", "no"};
    CHECK(refused.settle().plan.count(CellState::given_up) == 1);
    CHECK(refused.only().failure->error.code == "scheduler.refused");

    BatchFarm hopeless;
    hopeless.told.view.end = JobEnd{EndCause::cannot_ever_run, {}, "PENDING PartitionTimeLimit", {}};
    CHECK(hopeless.settle().plan.count(CellState::given_up) == 1);
    CHECK(hopeless.only().failure->error.code == "job.cannot_run");
    CHECK(hopeless.told.cancelled == std::vector<std::string>{hopeless.only().id});
}

TEST_CASE("every end without a record has its code, and is tried again or not as the table says") {
    for (const auto cause :
         {EndCause::killed, EndCause::time_limit, EndCause::out_of_memory, EndCause::node_failure,
          EndCause::preempted, EndCause::cancelled, EndCause::not_launched, EndCause::failed}) {
        BatchFarm farm;
        farm.tick();
        farm.end_as(cause);
        farm.tick();
        const Attempt first = farm.attempts().front();
        CAPTURE(end_row(cause).code);
        REQUIRE(first.failure.has_value());
        CHECK(first.failure->error.code == end_row(cause).code);
        CHECK(first.failure->error.value == "its word");
        CHECK(first.end->used == JobUsage{60, 30, 1024});
        CHECK((farm.attempts().size() == 2) == end_row(cause).try_again);
    }
}

TEST_CASE("a task that is preempted again and again is given up by its own bound, and by then only") {
    BatchFarm farm;
    farm.site.max_attempts = 1;
    farm.site.max_preemptions = 4;
    farm.tick();
    farm.end_as(EndCause::preempted);
    SUBCASE("it always is") {
        const TickReport report = farm.settle();
        CHECK(report.plan.count(CellState::given_up) == 1);
        CHECK(report.plan.cells.front().reason ==
              "4 of 4 preemptions; the last in job: The job was preempted by one with higher priority");
        CHECK(farm.told.given.size() == 4);
    }
    SUBCASE("the fourth job is left alone") {
        farm.tick();
        farm.tick();
        REQUIRE(farm.told.given.size() == 3);
        farm.told.run = true;
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.attempts().size() == 4);
        CHECK(farm.builds() == 1);
    }
}

TEST_CASE("a build that recorded success has succeeded, whatever its scheduler says") {
    BatchFarm farm;
    farm.told.run = true;
    farm.tick();
    farm.end_as(EndCause::out_of_memory);
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE(
    "a job that ended well is waited for until its record is seen, however long it ran, and not for ever") {
    BatchFarm farm;
    farm.told.run = true;
    farm.tick();
    const fs::path record = farm.site.work_directory / "attempts" / farm.only().id / "exit.json";
    fs::rename(record, record.string() + ".unseen");  // as a network file system does that shows it later
    farm.told.view = {JobState::running, "", {}};
    farm.tick();  // and ten minutes pass
    REQUIRE(farm.only().state == State::running);
    farm.told.view = {JobState::vanished, "", JobEnd{EndCause::unexplained, 0, "COMPLETED", {}}};
    const base::UnixMicros ended = farm.clock.now();
    farm.tick();
    CHECK(farm.only().state == State::running);
    SUBCASE("it is seen") {
        fs::rename(record.string() + ".unseen", record);
        CHECK(farm.settle().plan.count(CellState::have) == 1);
        CHECK(farm.builds() == 1);
    }
    const std::string job = farm.only().id;
    const auto failure = [&] {  // by its id: the order of attempts is that of clocks
        const auto attempts = farm.attempts();
        return std::find_if(attempts.begin(), attempts.end(), [&](const Attempt& a) { return a.id == job; })
            ->failure;
    };
    SUBCASE("another login node, whose clock is a little ahead, saw it first") {
        farm.clock.set(ended - claim_grace_ms * 500);
        farm.tick();
        CHECK_FALSE(failure().has_value());
    }
    SUBCASE("a clock that has stepped back lets nobody wait until it has caught up") {
        farm.clock.set(ended - claim_grace_ms * 2000);
        farm.tick();
        REQUIRE(failure().has_value());
        CHECK(failure()->error.code == "job.vanished");
    }
    SUBCASE("within a minute it is waited for, then not") {
        farm.clock.set(ended + claim_grace_ms * 500);
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.vanished");
    }
}

TEST_CASE("a build that recorded a failure waits for its scheduler to say why, and not for ever") {
    BatchFarm farm;
    farm.told.run = true;
    testing::write(farm.folder.path() / "break", "");
    constexpr std::int64_t tick_us = max_wait_ms * 2 * 1000;  // what a tick of the farm adds
    constexpr std::int64_t year_us = 365LL * 86'400 * 1'000'000;
    const base::UnixMicros of_the_job = base::SystemClock().now();
    SUBCASE("its node's clock is a year ahead: what it says of time says nothing") {
        farm.clock.set(of_the_job - year_us);
        farm.tick();
        farm.told.view = {JobState::running, "", {}};
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.failed");
        return;
    }
    farm.clock.set(of_the_job - tick_us);
    farm.tick();
    SUBCASE("it says why") {
        farm.told.view = {JobState::running, "", {}};
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.end_as(EndCause::preempted);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.preempted");
        CHECK(farm.attempts().front().exit_code == 1);
    }
    SUBCASE("it never says") {
        farm.told.view = {JobState::unknown, "away", {}};
        farm.tick();
        CHECK(farm.only().state == State::running);
        farm.clock.set(farm.clock.now() + 10 * year_us);
        farm.tick();
        CHECK(farm.attempts().front().failure->error.code == "job.failed");
    }
}

TEST_CASE("a person stops an attempt: its job is cancelled, no late start runs, retry begins anew") {
    BatchFarm farm;
    farm.tick();
    Agent agent(farm.parts());
    REQUIRE(agent.cancel("demo-1.0-cp311").has_value());
    CHECK(farm.told.cancelled == std::vector<std::string>{farm.only().id});
    CHECK(farm.only().failure->error.code == "job.cancelled");
    CHECK(fs::exists(farm.site.work_directory / "attempts" / farm.only().id / "claim"));
    CHECK(farm.tick().plan.count(CellState::given_up) == 1);
    CHECK(agent.cancel("demo-1.0-cp311").error().code == "cancel.nothing");
    farm.told.run = true;
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.attempts().size() == 2);
}

TEST_CASE("a refusal after a submission that got lost lets no late job of it build") {
    BatchFarm farm;
    farm.told.refusal = unsure("no", "");
    farm.tick();
    farm.told.refusal = base::Error{"scheduler.refused", "no"};
    farm.told.view = {JobState::unclaimed, "Slurm knows no job of this name", {}};
    const fs::path claim = farm.site.work_directory / "attempts" / farm.only().id / "claim";
    SUBCASE("it is forbidden and cancelled") {
        farm.tick();
        CHECK(farm.only().failure->error.code == "scheduler.refused");
        CHECK(fs::exists(claim));
        CHECK(farm.told.cancelled == std::vector<std::string>{farm.only().id});
    }
    SUBCASE("it was faster: it is looked for, and nothing has failed") {
        fs::create_directory(claim);
        farm.tick();
        CHECK(farm.only().state == State::submitting);
        CHECK(farm.told.cancelled.empty());
    }
}

TEST_CASE("a job that finds its tree held by another one is followed by one in a tree of its own") {
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
    CHECK(farm.attempts().back().builds_in.empty());
}

TEST_CASE("after a time limit the next attempt asks for twice the time, up to the site's most") {
    BatchFarm farm;
    farm.site.minutes = 30;
    farm.site.max_walltime_minutes = 100;
    farm.tick();
    farm.end_as(EndCause::time_limit);
    farm.settle();
    REQUIRE(farm.told.given.size() == 3);
    CHECK(farm.told.given[0].max_walltime_minutes == 30);
    CHECK(farm.told.given[1].max_walltime_minutes == 60);
    CHECK(farm.told.given[2].max_walltime_minutes == 100);
}

}  // namespace
}  // namespace wheelyard::builder
