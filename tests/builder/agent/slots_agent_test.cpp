// Places of preparation, job slots, and how long an attempt waits for an error to pass.
#include <doctest/doctest.h>

#include <algorithm>

#include "builder/agent/agent.hpp"
#include "builder/attempt/slots.hpp"
#include "builder/show/report.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
namespace fs = std::filesystem;

// Adds a package whose source cannot be reached.
void add_dead(Farm& farm, const std::string& package) {
    Recipe recipe = default_recipe(package);
    recipe.source = SourceKind::tarball;
    recipe.url = "http://127.0.0.1:1/" + package + "-{version}.tar.gz";
    recipe.file = farm.folder.path() / (package + ".toml");
    recipe.sha256["1.0"] = std::string(64, 'a');
    farm.recipes.add(recipe);
    farm.site.wants.insert(farm.site.wants.begin(), {package, {"1.0"}, {"3.11"}});
}

Attempt attempt_of(const Farm& farm, const std::string& package) {
    Attempt last;
    for (const Attempt& attempt : farm.attempts()) {
        if (attempt.asked.package == package && attempt.number >= last.number) last = attempt;
    }
    REQUIRE(last.asked.package == package);
    return last;
}

const Cell& cell_of(const Plan& plan, const std::string& package) {
    const auto found = std::find_if(plan.cells.begin(), plan.cells.end(),
                                    [&](const Cell& cell) { return cell.package == package; });
    REQUIRE(found != plan.cells.end());
    return *found;
}

TEST_CASE("a source that does not answer does not delay other packages") {
    Farm farm;
    farm.site.max_jobs = 1;
    for (const char* package : {"dead", "gone", "lost"})
        add_dead(farm, package);
    TickReport report;
    for (int tick = 0; tick < 4; ++tick)
        report = farm.tick();
    CHECK(cell_of(report.plan, "demo").state == CellState::have);
    CHECK(farm.builds() == 1);
    for (const char* package : {"dead", "gone", "lost"}) {
        CAPTURE(package);
        const Attempt waiting = attempt_of(farm, package);
        CHECK(waiting.state == State::planned);
        CHECK(waiting.waiting.what == WaitFor::retry);
        CHECK(waiting.number == 1);
        const Cell& cell = cell_of(report.plan, package);
        CHECK(cell.state == CellState::active);
        CHECK(cell.reason.starts_with("planned, waiting: The server refuses connections"));
        CHECK(render_plan(report.plan, true).find("127.0.0.1:1/" + std::string(package)) !=
              std::string::npos);
    }
}

TEST_CASE("an error that does not pass ends the attempt and is reported, and another attempt begins") {
    Farm farm;
    farm.site.wants.clear();
    add_dead(farm, "dead");
    farm.tick();
    REQUIRE(attempt_of(farm, "dead").waiting.since != 0);
    farm.tick();
    CHECK(attempt_of(farm, "dead").waiting.tries == 2);
    for (int number = 1; number <= farm.site.max_attempts; ++number) {
        CAPTURE(number);
        REQUIRE(attempt_of(farm, "dead").number == number);
        farm.clock.sleep_ms(max_error_wait_ms);
        farm.tick();
        const auto attempts = farm.attempts();
        const auto ended = std::find_if(attempts.begin(), attempts.end(),
                                        [&](const Attempt& one) { return one.number == number; });
        REQUIRE(ended != attempts.end());
        CHECK(ended->state == State::failed);
        REQUIRE(ended->failure.has_value());
        CHECK(ended->failure->phase == "fetch");
        CHECK(ended->failure->try_again);
        CHECK(ended->failure->error.code == "wait.too_long");
        CHECK(ended->failure->error.sentence.find("The attempt waited 72 h") == 0);
        CHECK(ended->failure->error.sentence.find("The server refuses connections") != std::string::npos);
    }
    CHECK(farm.tick().plan.count(CellState::given_up) == 1);
    CHECK(farm.attempts().size() == static_cast<std::size_t>(farm.site.max_attempts));
}

TEST_CASE("an attempt that waits for a person has no time limit and reports the reason") {
    Farm farm;
    farm.registry.unauthorised = true;
    farm.tick();
    for (int count = 0; count < 3; ++count) {
        farm.clock.sleep_ms(max_error_wait_ms * 2);
        const TickReport report = farm.tick();
        REQUIRE(report.active.size() == 1);
        CHECK(report.active.front().waiting.what == WaitFor::person);
        CHECK(report.plan.cells.front().reason == "uploading, waiting: The token is expired");
    }
    farm.registry.unauthorised = false;
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

TEST_CASE("a wheel that waited too long for its registry is kept, and retry uploads it") {
    Farm farm;
    farm.tick();
    farm.registry.down = true;
    farm.tick();
    REQUIRE(farm.attempts().front().state == State::uploading);
    farm.clock.sleep_ms(max_error_wait_ms);
    farm.tick();
    REQUIRE(farm.attempts().front().state == State::failed);
    CHECK_FALSE(farm.attempts().front().failure->try_again);
    farm.registry.down = false;
    CHECK(farm.settle().plan.count(CellState::given_up) == 1);
    Agent agent(farm.parts());
    REQUIRE(agent.retry("demo-1.0-cp311").has_value());
    CHECK(farm.settle().plan.count(CellState::have) == 1);
    CHECK(farm.builds() == 1);
}

// Keeps every job queued until the test ends it.
class QueueScheduler final : public Scheduler {
  public:
    base::Status submit(const JobRequest& job) override {
        given.push_back(job);
        return {};
    }
    std::map<std::string, JobView> poll(const std::map<std::string, AttemptFolder>& attempts) override {
        std::map<std::string, JobView> views;
        max_jobs = std::max(max_jobs, attempts.size());
        for (const auto& [attempt, folder] : attempts) {
            const bool is_over = std::find(ended.begin(), ended.end(), attempt) != ended.end();
            views[attempt] = is_over ? JobView{JobState::vanished, "", JobEnd{cause, {}, "its word", {}}}
                                     : JobView{JobState::queued, "PENDING", {}};
        }
        return views;
    }
    base::Status cancel(const std::string&, const AttemptFolder&) override { return {}; }
    [[nodiscard]] bool is_batch_system() const override { return true; }

    std::vector<JobRequest> given;
    std::vector<std::string> ended;
    EndCause cause = EndCause::cancelled;
    std::size_t max_jobs = 0;  // at once
};

struct QueueFarm : Farm {
    QueueScheduler queue;
    QueueFarm() {
        scheduler = &queue;
        site.max_jobs = 1;
        site.wants = {{"demo", {"1.0", "1.1", "1.2", "1.3"}, {"3.11"}}};
    }
    [[nodiscard]] std::vector<Attempt> in(State state) const {
        std::vector<Attempt> found;
        for (const Attempt& attempt : attempts()) {
            if (attempt.state == state) found.push_back(attempt);
        }
        return found;
    }
};

TEST_CASE(
    "prepared attempts wait for a job slot and report it, and never more jobs run than there are slots") {
    QueueFarm farm;
    TickReport report = farm.tick();
    report = farm.tick();
    CHECK(farm.queue.given.size() == 1);
    CHECK(farm.in(State::submitting).size() == 1);
    CHECK(farm.in(State::prepared).size() == static_cast<std::size_t>(max_preparing));
    for (const Attempt& attempt : farm.in(State::prepared)) {
        CHECK(attempt.waiting.what == WaitFor::job_slot);
        CHECK(attempt.waiting.reason == "for one of 1 job slots");
    }
    std::vector<std::string> reasons;
    for (const Cell& cell : report.plan.cells)
        reasons.push_back(cell.reason);
    CHECK(reasons[1] == "prepared, waits for one of 1 job slots");
    CHECK(reasons[2] == "prepared, waits for one of 1 job slots");
    CHECK(report.plan.cells[3].state == CellState::wanted);
    CHECK(reasons[3].find("waits for one of 2 places to prepare, taken by demo-1.1-cp311, demo-1.2-cp311") !=
          std::string::npos);
    for (std::size_t jobs = 1; jobs <= 4; ++jobs) {
        CHECK(farm.queue.given.size() == jobs);
        farm.queue.ended.push_back(farm.queue.given.back().attempt);
        farm.tick();
        farm.tick();
    }
    CHECK(farm.queue.max_jobs == 1);
    CHECK(farm.in(State::failed).size() == 4);
}

TEST_CASE("attempts that ended during the wait for a slot influence the size of the job") {
    QueueFarm farm;
    farm.site.memory_mib = 4000;
    farm.site.max_memory_mib = 20000;
    farm.site.max_attempts = 1;
    farm.tick();
    farm.tick();
    REQUIRE(farm.queue.given.size() == 1);
    CHECK(farm.queue.given.front().memory_mib == 4000);
    farm.queue.cause = EndCause::out_of_memory;
    farm.queue.ended.push_back(farm.queue.given.front().attempt);
    farm.tick();
    farm.tick();
    REQUIRE(farm.queue.given.size() == 2);
    CHECK(farm.queue.given.back().memory_mib == 6000);
    const AttemptFolder folder{farm.site.work_directory / "attempts" / farm.queue.given.back().attempt};
    CHECK(fs::exists(folder.script()));
}

TEST_CASE(
    "a hardware test whose request changes while it waits for a job slot is submitted with the new one") {
    Farm farm;
    REQUIRE(farm.settle().plan.count(CellState::have) == 1);
    QueueScheduler queue;
    farm.scheduler = &queue;
    farm.site.max_jobs = 1;
    farm.site.max_attempts = 1;
    farm.site.wants = {{"demo", {"1.0", "1.1"}, {"3.11"}}};
    farm.tick();
    farm.tick();
    REQUIRE(queue.given.size() == 1);  // the build of 1.1
    farm.site.hardware_tests.gpu = QueueSettings();
    Recipe recipe = farm.recipes.of("demo");
    recipe.gpu_test.command = "true";
    recipe.gpu_test.memory_mib = 1000;
    farm.recipes.add(recipe);
    farm.tick();
    farm.tick();
    const auto test_of = [&farm] {
        const auto attempts = farm.attempts();
        const auto found = std::find_if(attempts.begin(), attempts.end(), [](const Attempt& attempt) {
            return attempt.asked.purpose == Purpose::gpu_test;
        });
        REQUIRE(found != attempts.end());
        return *found;
    };
    REQUIRE(test_of().waiting.what == WaitFor::job_slot);
    recipe.gpu_test.memory_mib = 2000;
    farm.recipes.add(recipe);
    queue.ended.push_back(queue.given.front().attempt);
    for (int count = 0; count < 4; ++count)
        farm.tick();
    CHECK(test_of().state == State::submitting);
    REQUIRE(queue.given.size() == 2);
    CHECK(queue.given.back().attempt == test_of().id);
    CHECK(queue.given.back().memory_mib == 2000);
}

}  // namespace
}  // namespace wheelyard::builder
