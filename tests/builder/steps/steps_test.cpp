#include "builder/steps/steps.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;

Attempt planned(const Farm& farm) {
    Attempt attempt;
    attempt.id = new_attempt_id(farm.clock.now());
    attempt.asked.cell = "demo-1.0-cp311";
    attempt.asked.package = "demo";
    attempt.asked.version = "1.0";
    attempt.asked.python = "3.11";
    return attempt;
}

TEST_CASE("the journal's page has the table of states") {
    CHECK(test_support::part_difference("reference/journal.md", "states", render_steps()) == "");
}

TEST_CASE("each state has at most one step for a purpose, and a state that is over has none") {
    struct Row {
        Purpose purpose;
        std::string_view steps;  // of the states in order
    };
    const Row rows[] = {{Purpose::build, "fetch prepare submit start job inspect upload - - "},
                        {Purpose::gpu_test, "prepare - submit start job - - - - "},
                        {Purpose::multi_node_test, "prepare - submit start job - - - - "},
                        {Purpose::promotion, "promote - - - - - - - - "},
                        {Purpose::reproduction, "fetch prepare submit start job compare - - - "}};
    for (const Row& row : rows) {
        std::string steps;
        for (int i = 0; i <= static_cast<int>(State::failed); ++i) {
            Attempt attempt;
            attempt.asked.purpose = row.purpose;
            attempt.state = static_cast<State>(i);
            const StepRow* step = find_step(attempt);
            steps += (step == nullptr ? "-" : std::string(step->name)) + " ";
        }
        CHECK(steps == row.steps);
    }
}

TEST_CASE("a step returns the next state, and leaves the state and the journal to the loop") {
    Farm farm;
    AgentParts parts = farm.parts();
    Attempt attempt = planned(farm);
    const auto next = find_step(attempt)->step(attempt, parts);
    REQUIRE_MESSAGE(next.has_value(), next.error().text());
    REQUIRE(std::holds_alternative<Move>(*next));
    CHECK(std::get<Move>(*next).to == State::fetched);
    CHECK(attempt.state == State::planned);
    CHECK(attempt.source.kind == "path");
    CHECK(farm.attempts().empty());
}

TEST_CASE("a submission is counted before the scheduler is called") {
    Farm farm;
    AgentParts parts = farm.parts();
    Attempt attempt = planned(farm);
    attempt.state = State::prepared;
    parts.has_job_slot = [] { return false; };
    const auto waits = submit_job(attempt, parts);
    REQUIRE(std::holds_alternative<WaitForEvent>(waits.value()));
    CHECK(std::get<WaitForEvent>(*waits).what == WaitFor::job_slot);
    CHECK(attempt.job.submits == 0);
    parts.has_job_slot = [] { return true; };
    const auto submits = submit_job(attempt, parts);
    REQUIRE(std::holds_alternative<Move>(submits.value()));
    CHECK(std::get<Move>(*submits).to == State::submitting);
    CHECK((std::get<Move>(*submits).then != nullptr));
    CHECK(attempt.job.submits == 1);
    CHECK(farm.builds() == 0);
}

TEST_CASE("the scheduler's view of a job decides how its start is judged") {
    struct Row {
        JobView view;
        bool moves;
        WaitFor what;
    };
    const Row rows[] = {{{JobState::running, "pid 1"}, true, WaitFor::nothing},
                        {{JobState::vanished, "gone"}, true, WaitFor::nothing},
                        {{JobState::unknown, "no answer"}, false, WaitFor::scheduler},
                        {{JobState::queued, "priority"}, false, WaitFor::queue}};
    for (const Row& row : rows) {
        Farm farm;
        AgentParts parts = farm.parts();
        Attempt attempt = planned(farm);
        attempt.state = State::submitting;
        parts.jobs.emplace(attempt.id, row.view);
        const auto next = watch_start(attempt, parts).value();
        CHECK(std::holds_alternative<Move>(next) == row.moves);
        if (!row.moves) CHECK(std::get<WaitForEvent>(next).what == row.what);
    }
}

class FullScheduler final : public Scheduler {
  public:
    base::Status submit(const JobRequest&) override {
        return tl::unexpected(no_job_created("The queue is full", "sbatch"));
    }
    std::map<std::string, JobView> poll(const std::map<std::string, AttemptFolder>&) override { return {}; }
    base::Status cancel(const std::string&, const AttemptFolder&) override { return {}; }
};

TEST_CASE("a refused first submission returns to prepared, a later one still looks for the earlier job") {
    for (const int earlier : {0, 1}) {
        Farm farm;
        FullScheduler full;
        farm.scheduler = &full;
        AgentParts parts = farm.parts();
        Attempt attempt = planned(farm);
        attempt.job.submits = earlier;
        const Move submits = std::get<Move>(submit_job(attempt, parts).value());
        CHECK(std::get<WaitForEvent>(submits.then(attempt, parts).value()).what == WaitFor::submission);
        CHECK(attempt.state == (earlier == 0 ? State::prepared : State::submitting));
        CHECK(attempt.job.submits == earlier);
        CHECK(attempt.job.submitted == 0);  // no tick waits for the claim of the refused job
        // Its queue is held: it is not asked again at once.
        CHECK(std::get<WaitForEvent>(submit_job(attempt, parts).value()).what == WaitFor::submission);
    }
}

// An attempt whose wheel is built and not yet sent.
Attempt uploading(const Farm& farm, const AgentParts& parts) {
    Attempt attempt = planned(farm);
    attempt.state = State::uploading;
    const auto wheel = testing::demo_wheel();
    testing::write(parts.folder_of(attempt).wheel() / wheel.filename(), wheel.bytes());
    attempt.wheel.filename = wheel.filename();
    attempt.wheel.sha256 = *base::sha256_hex_of_file(parts.folder_of(attempt).wheel() / wheel.filename());
    return attempt;
}

TEST_CASE(
    "an accepted wheel is sent once: the try is recorded first, and the page is read again afterwards") {
    Farm farm;
    AgentParts parts = farm.parts();
    Attempt attempt = uploading(farm, parts);
    const WriteJournal counted = std::get<WriteJournal>(upload_wheel(attempt, parts).value());
    CHECK(attempt.wheel.sends == 1);
    CHECK(farm.registry.uploads == 0);
    const WriteJournal sent = std::get<WriteJournal>(counted.then(attempt, parts).value());
    CHECK(farm.registry.uploads == 1);
    CHECK(attempt.wheel.sent == farm.clock.now());
    const Move done = std::get<Move>(sent.then(attempt, parts).value());
    CHECK(done.to == State::done);
    CHECK(farm.registry.uploads == 1);
}

TEST_CASE("a wheel's tries count only what may be the wheel's fault") {
    using enum base::ErrorKind;
    struct Row {
        base::ErrorKind kind;
        int sends;
    };
    for (const Row& row : {Row{unreachable, 0}, Row{unauthorized, 0}, Row{lost, 0}, Row{in_progress, 0},
                           Row{unavailable, 1}, Row{cut, 1}, Row{refused, 1}}) {
        CAPTURE(static_cast<int>(row.kind));
        Farm farm;
        farm.registry.upload_fails = row.kind;
        AgentParts parts = farm.parts();
        Attempt attempt = uploading(farm, parts);
        const WriteJournal counted = std::get<WriteJournal>(upload_wheel(attempt, parts).value());
        CHECK(attempt.wheel.sends == 1);
        const auto sent = counted.then(attempt, parts);
        REQUIRE(!sent.has_value());
        CHECK(sent.error().kind == row.kind);
        CHECK(attempt.wheel.sends == row.sends);
        CHECK(attempt.wheel.sent == 0);
    }
}

}  // namespace
}  // namespace wheelyard::builder
