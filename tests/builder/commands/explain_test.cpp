// The history of a cell, as text and as JSON.
#include "builder/commands/commands.hpp"

#include <doctest/doctest.h>

#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

CellStory story() {
    CellStory story{"demo-1.0-cp311", Cell{}, {}};
    story.cell->name = story.name;
    story.cell->state = CellState::given_up;
    story.cell->reason = "failed for good in build: A header is missing";
    story.cell->recipe = "default";
    Attempt first;
    first.id = "w1";
    first.asked.cell = story.name;
    first.asked.package = "demo";
    first.asked.version = "1.0";
    first.asked.python = "3.11";
    first.state = State::failed;
    first.job.memory_mib = 4000;
    first.job.max_walltime_minutes = 60;
    first.job.phases = {{"venv", 1'000'000}, {"build", 4'000'000}};
    first.job.ended = 64'000'000;
    first.job.end = JobEnd{EndCause::failed, 1, "FAILED NonZeroExitCode", {70, 120, 2048}};
    first.failure = Failure{"build",
                            {"job.failed", "A header is missing", "", "install it"},
                            "x.c:1: fatal error: a.h",
                            false,
                            "compiler.missing_header",
                            12};
    Attempt second = first;
    second.id = "w2";
    second.number = 2;
    second.job.remedy = "2 jobs at once: memory.nvcc_crashed ended attempt w1";
    story.attempts = {first, second};
    story.retry = "wheelyard-builder retry demo-1.0-cp311 --site site.toml";
    return story;
}

TEST_CASE("a history has the batch system's own words about a queue that refuses its jobs") {
    CellStory told = story();
    HeldQueue held;
    held.queue = "main";
    held.reason = "sbatch: error: Batch job submission failed: Invalid account";
    told.held_queues = {held};
    told.jobs = {{"w2", "Slurm job 4711 on n1, RUNNING"}};
    CHECK(render_story(told).find("job now     Slurm job 4711 on n1, RUNNING") != std::string::npos);
    CHECK(
        render_story(told).find(
            "refused     Queue `main` takes no jobs since 1970-01-01T00:00:00.000000Z: sbatch: error: Batch "
            "job submission failed: Invalid account") != std::string::npos);
    CHECK(render_story_json(told).find("Invalid account") != std::string::npos);
    CHECK(render_story(story()).find("refused ") == std::string::npos);
}

TEST_CASE("a history has the reason, resources requested and used, the failure, and the next step") {
    const std::string text = render_story(story());
    for (const char* part :
         {"demo-1.0-cp311: given up\n", "why         failed for good in build", "Attempt 1, w1: failed\n",
          "requested   4000 MiB, 60 minutes", "phases      venv 3", "used        1 min 10 s", "of memory",
          "failed in   build: ", "first error x.c:1: fatal error: a.h",
          "cause       compiler.missing_header, line 12", "what to do  Load the library",
          "agent       does not retry; run `wheelyard-builder retry demo-1.0-cp311 --site site.toml` after",
          "Attempt 2, w2: failed", "changed     2 jobs at once"}) {
        CAPTURE(part);
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    }
    CHECK(text.find("build tree") == std::string::npos);
    CellStory limited = story();
    limited.cell->limits = {"it rounds (https://a.example)"};
    CHECK(render_story(limited).find("limit       it rounds (https://a.example)\n") != std::string::npos);
    CHECK(render_story_json(limited).find("\"limits\"") != std::string::npos);
    CHECK(text.find("limit  ") == std::string::npos);
    CellStory without_tree = story();
    without_tree.attempts.back().tree.removed = 1'790'000'000'000'000;
    CHECK(render_story(without_tree)
              .find("build tree  removed 2026-09-21T14:13:20.000000Z to stay within work.trees_gib; a "
                    "retry starts from scratch\n") != std::string::npos);
    CellStory claimed = story();
    claimed.claimed_task.emplace();
    claimed.claimed_task->id = "t5f0c9a31d2be";
    claimed.claimed_task->asked_by = "anna";
    CHECK(render_story(claimed).find("built for   task t5f0c9a31d2be of the registry, asked for by anna\n") !=
          std::string::npos);
    CHECK(render_story_json(claimed).find("\"claimed_task\": \"t5f0c9a31d2be\"") != std::string::npos);
    CellStory untested = story();
    untested.tests_not_run = {"gpu-test: [hardware_tests.gpu] is not in the site file"};
    CHECK(render_story(untested).find(
              "not run     gpu-test: [hardware_tests.gpu] is not in the site file\n") != std::string::npos);
    CHECK(io::parse_json(render_story_json(untested))->find("tests_not_run")->as_array()->size() == 1);
    CHECK(text.find("not run ") == std::string::npos);
    CellStory none{"gone-1.0-cp311", {}, {}};
    CHECK(render_story(none) == "gone-1.0-cp311: not in any [[want]] of the site\n\nNo attempts yet.\n");
}

TEST_CASE("a failure without a rule of the doctor has the command that retries it") {
    CellStory unknown = story();
    unknown.attempts.back().failure->cause.clear();
    CHECK(
        render_story(unknown).ends_with("agent       does not retry; run `wheelyard-builder retry "
                                        "demo-1.0-cp311 --site site.toml` after fixing "
                                        "the cause\n"));
    CellStory waiting = unknown;
    waiting.cell->state = CellState::wanted;
    waiting.attempts.back().failure->try_again = true;
    CHECK(
        render_story(waiting).ends_with("agent       retries automatically; `wheelyard-builder retry "
                                        "demo-1.0-cp311 --site site.toml` retries at once\n"));
    // Nobody has to retry an attempt that was retried, or one whose error names the command.
    CellStory retried = unknown;
    retried.attempts.back().superseded = true;
    CellStory advised = unknown;
    advised.attempts.back().failure->error.advice =
        "free the disk; then: wheelyard-builder retry demo-1.0-cp311";
    for (const CellStory& one : {retried, advised}) {
        const std::string text = render_story(one);
        CHECK(text.find("agent  ", text.find("Attempt 2")) == std::string::npos);
    }
}

TEST_CASE("the JSON has the same content") {
    const auto json = io::parse_json(render_story_json(story()));
    REQUIRE(json.has_value());
    CHECK(json->string_or("format", "") == "wheelyard.explained_cell/1");
    CHECK(json->string_or("state", "") == "given up");
    REQUIRE(json->find("attempts")->as_array()->size() == 2);
    const auto& last = json->find("attempts")->as_array()->back();
    CHECK(last.find("failure")->string_or("cause", "") == "compiler.missing_header");
    CHECK(last.find("job")->string_or("remedy", "").starts_with("2 jobs"));
}

}  // namespace
}  // namespace wheelyard::builder
