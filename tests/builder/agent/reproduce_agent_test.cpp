// Reproductions by the whole agent: requested by a person, built like any other attempt, compared, never uploaded.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>

#include "builder/agent/agent.hpp"
#include "lib/base/files/fd.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

using testing::Farm;
namespace fs = std::filesystem;

constexpr const char* cell = "demo-1.0-cp311";
constexpr const char* reproduction = "demo-1.0-cp311-reproduction";

std::string ask(Farm& farm, const std::string& name) {
    Agent agent(farm.parts());
    const auto asked = agent.reproduce(name);
    return asked ? *asked : asked.error().code;
}

Attempt last_of(const Farm& farm, const std::string& name) {
    const auto attempts = farm.attempts();
    const Attempt* last = nullptr;
    for (const Attempt& attempt : attempts) {
        if (attempt.asked.cell == name && (last == nullptr || attempt.number > last->number)) last = &attempt;
    }
    REQUIRE(last != nullptr);
    return *last;
}

// The agent's folder has the path of a project, whose source has no digest.
test_support::WheelWriter other_wheel() {
    test_support::WheelWriter wheel("demo", "1.0");
    wheel.add("demo.py", "answer = 43\n").tag("py3-none-any");
    return wheel;
}

TEST_CASE("a reproduction is built without caches, compared with the index's wheel, and never uploaded") {
    Farm farm;
    farm.settle();
    CHECK(ask(farm, "demo") == reproduction);  // part of the cell's name
    CHECK(ask(farm, cell) == reproduction);    // the active one
    CHECK(farm.attempts().size() == 2);
    farm.settle();
    CHECK(farm.builds() == 2);
    CHECK(farm.registry.uploads == 1);
    CHECK(testing::read(farm.folder.path() / "build_saw").find("CCACHE_DISABLE=1\n") != std::string::npos);
    const Attempt attempt = last_of(farm, reproduction);
    CHECK(attempt.state == State::done);
    CHECK(attempt.reproduced.identical == true);
    CHECK(attempt.reproduced.attempt == last_of(farm, cell).id);
    CHECK(testing::read(farm.parts().folder_of(attempt).differences()).find(" is identical\n") !=
          std::string::npos);
}

TEST_CASE("a cancelled reproduction is repeated by the command that the answer names") {
    Farm farm;
    farm.settle();
    ask(farm, cell);
    Agent agent(farm.parts());
    const auto cancelled = agent.cancel(reproduction);
    REQUIRE(cancelled);
    const std::string repeated = last_of(farm, cell).id;
    CHECK(cancelled->ends_with("`wheelyard-builder reproduce " + repeated + "` starts it again"));
    CHECK(ask(farm, repeated) == reproduction);
}

TEST_CASE("an agent that is killed after the comparison has not lost what it found") {
    for (const char* point : {"outcome.written", "bulk.removed"}) {
        CAPTURE(point);
        Farm farm;
        farm.settle();
        CHECK(ask(farm, cell) == reproduction);
        int status = 0;
        for (int tick = 0; tick < 4 && status != 137; ++tick)
            status = testing::tick_in_child(farm, point);
        CHECK(status == 137);
        farm.settle();
        const Attempt attempt = last_of(farm, reproduction);
        CHECK(attempt.state == State::done);
        CHECK(attempt.reproduced.identical == true);
        CHECK(farm.builds() == 2);
    }
}

TEST_CASE("a reproduction builds at the path of the recorded build, unless a job still runs there") {
    for (const bool is_locked : {false, true}) {
        Farm farm;
        farm.settle();
        const Attempt built = last_of(farm, cell);
        CHECK(built.job.tree == "demo-1");
        const AttemptFolder folder = farm.parts().folder_of(built);
        const base::Fd fence(::open(folder.fence().c_str(), O_RDWR | O_CLOEXEC));
        REQUIRE(::flock(fence.get(), is_locked ? LOCK_EX : LOCK_UN) == 0);
        ask(farm, cell);
        CHECK(last_of(farm, reproduction).job.tree == (is_locked ? "demo-2" : "demo-1"));
        farm.settle();
        CHECK(last_of(farm, reproduction).reproduced.identical == true);
        CHECK(last_of(farm, reproduction).reproduced.tree == "demo-1");
    }
}

TEST_CASE("another wheel is no failure: the attempt is done and names the causes") {
    for (const bool has_registry : {true, false}) {
        Farm farm;
        if (!has_registry) farm.site.registry.reset();
        farm.settle();
        farm.offer_wheel(other_wheel());
        ask(farm, cell);
        farm.settle();
        const Attempt attempt = last_of(farm, reproduction);
        CHECK(attempt.state == State::done);
        CHECK(attempt.reproduced.identical == false);
        CHECK(attempt.reproduced.causes == std::vector<std::string>{"bytes"});
        const AttemptFolder folder = farm.parts().folder_of(attempt);
        CHECK(fs::exists(folder.differences_json()));
        for (const char* side : {"recorded", "rebuilt"})
            CHECK(fs::exists(folder.compared() / side / attempt.wheel.filename));
    }
}

TEST_CASE("changed settings of the recipe are named as a cause") {
    Farm farm;
    farm.settle();
    Recipe recipe = farm.recipes.of("demo");
    recipe.build_environment = {{"CFLAGS", "-O1"}};
    farm.recipes.add(recipe);
    farm.offer_wheel(other_wheel());
    ask(farm, cell);
    farm.settle();
    CHECK(last_of(farm, reproduction).reproduced.causes.front() == "inputs.settings");
}

TEST_CASE(
    "a reproduction that fails is tried as often as a build, then given up without a trace in the plan") {
    Farm farm;
    farm.settle();
    ask(farm, cell);
    testing::write(farm.folder.path() / "break", "");
    const TickReport report = farm.settle();
    CHECK(report.plan.find(reproduction) == nullptr);
    CHECK(report.plan.count(CellState::have) == 1);
    CHECK(last_of(farm, reproduction).state == State::failed);
    CHECK(last_of(farm, reproduction).reproduced.sha256 == last_of(farm, cell).wheel.sha256);
    Agent agent(farm.parts());
    const base::Error refused = agent.retry(reproduction).error();
    CHECK(refused.code == "retry.reproduction");
    const std::string repeated = last_of(farm, cell).id;
    CHECK(refused.advice == "`wheelyard-builder reproduce " + repeated + "` repeats it");
    fs::remove(farm.folder.path() / "break");
    ask(farm, repeated);
    farm.settle();
    CHECK(last_of(farm, reproduction).reproduced.identical == true);
}

TEST_CASE("a wheel that is gone or replaced cannot be compared, and the attempt says so") {
    Farm farm;
    farm.settle();
    const auto wheel = farm.folder.path() / "index" / "demo-1.0-py3-none-any.whl";
    testing::write(wheel, other_wheel().bytes());
    ask(farm, cell);
    farm.settle();
    CHECK(last_of(farm, reproduction).failure->error.code == "reproduce.other_wheel");
    farm.site.wants.clear();  // or the missing wheel is built again
    fs::remove(wheel);
    ask(farm, cell);
    farm.settle();
    CHECK(last_of(farm, reproduction).failure->error.code == "reproduce.gone");
}

TEST_CASE("a comparison that waited too long for the index fails, and does not promise an upload") {
    Farm farm;
    farm.settle();
    ask(farm, cell);
    farm.tick();
    farm.registry.down = true;
    farm.tick();
    farm.tick();
    REQUIRE(last_of(farm, reproduction).state == State::built);
    REQUIRE(last_of(farm, reproduction).waiting.since != 0);
    farm.clock.sleep_ms(max_error_wait_ms);
    farm.tick();
    const Attempt failed = last_of(farm, reproduction);
    REQUIRE(failed.failure.has_value());
    CHECK(failed.failure->error.code == "wait.too_long");
    CHECK_FALSE(failed.failure->try_again);
    CHECK(failed.failure->error.advice.find("retry") == std::string::npos);
}

TEST_CASE("only a wheel that this agent has built can be reproduced") {
    Farm farm;
    CHECK(ask(farm, cell) == "reproduce.nothing");
    farm.settle();
    CHECK(ask(farm, "other") == "reproduce.nothing");
    CHECK(farm.attempts().size() == 1);
}

}  // namespace
}  // namespace wheelyard::builder
