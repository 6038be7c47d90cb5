// Tables and JSON of the plan and the status.
#include "builder/show/report.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

Plan plan() {
    Plan made;
    made.cells = {
        {"demo-1.0-cp311", "demo", "1.0", "3.11", "", "", 0, CellState::have, "demo.whl", "w1",
         "default recipe"},
        {"other-2-cp311", "other", "2", "3.11", "cu123", "", 0, CellState::wanted, "", "", "r/other.toml"}};
    return made;
}

TEST_CASE("a plan is a table with a line of counts") {
    CHECK(render_plan(plan(), false) ==
          "PACKAGE  VERSION  PYTHON  STATE   WHY\n"
          "demo     1.0      3.11    have    demo.whl\n"
          "other    2        3.11    wanted\n"
          "1 have, 1 wanted\n");
    CHECK(render_plan(plan(), true).find("demo.whl; recipe: default recipe\n") != std::string::npos);
    Plan judged = plan();
    judged.cells[0].torch_abi = {TorchAbi::kept, "uses only torch's stable ABI since 2.9"};
    CHECK(render_plan(judged, false) == render_plan(plan(), false));
    CHECK(render_plan(judged, true)
              .find("recipe: default recipe; kept: uses only torch's stable ABI since 2.9\n") !=
          std::string::npos);
    for (const auto& [state, word] : {std::pair{TorchAbi::kept, "kept"},
                                      {TorchAbi::unproven, "unproven"},
                                      {TorchAbi::rebuild, "rebuild"}}) {
        judged.cells[0].torch_abi->state = state;
        const auto document = io::parse_json(render_plan_json(judged));
        REQUIRE(document);
        const auto& cells = *document->find("cells")->as_array();
        CHECK(cells.at(0).string_or("torch_abi_state", "") == word);
        CHECK(cells.at(0).string_or("torch_abi", "") ==
              std::string(word) + ": uses only torch's stable ABI since 2.9");
        CHECK(cells.at(1).find("torch_abi_state") == nullptr);
    }
    CHECK(render_plan({}, false) == "no wheels are wanted\n");
    Plan stopped = plan();
    stopped.start_nothing = "the journal is broken";
    CHECK(render_plan(stopped, false).find("No new jobs are started: the journal is broken") !=
          std::string::npos);
}

TEST_CASE("a plan counts the known limits of a release, and names them with --explain") {
    Plan limited = plan();
    limited.cells.push_back(limited.cells[1]);  // the same release for another Python
    limited.cells[1].limits = {"it rounds (https://a.example)"};
    CHECK(render_plan(limited, false).ends_with("\nother 2 has 1 known limit; `plan --explain` names it\n"));
    limited.cells[2].limits = {"it rounds (https://a.example)", "it forgets (https://b.example)"};
    CHECK(
        render_plan(limited, false).ends_with("\nother 2 has 2 known limits; `plan --explain` names them\n"));
    const std::string explained = render_plan(limited, true);
    CHECK(explained.find("; known limits: it rounds (https://a.example); it forgets (https://b.example)") !=
          std::string::npos);
    CHECK(explained.find("names them") == std::string::npos);
    const auto document = io::parse_json(render_plan_json(limited));
    REQUIRE(document);
    const auto& cells = *document->find("cells")->as_array();
    CHECK(cells.at(0).find("limits") == nullptr);
    CHECK(cells.at(2).find("limits")->as_array()->size() == 2);
}

TEST_CASE("a tick without work on a terminal names the counts and the first reason") {
    Plan held = plan();
    held.cells[1].state = CellState::held;
    held.cells[1].reason = "may not upload";
    CHECK(render_idle_tick(held) ==
          "Nothing to do now: 1 have, 1 held.\n"
          "other-2-cp311 is held: may not upload\n"
          "`wheelyard-builder plan` lists every wheel with its reason.\n");
    held.cells.pop_back();
    CHECK(render_idle_tick(held) == "Nothing to do now: 1 have.\n");
    held.start_nothing = "the journal is broken";
    CHECK(render_idle_tick(held).ends_with("No new jobs are started: the journal is broken\n"));
    CHECK(render_idle_tick({}) == "Nothing to do now: no wheels are wanted.\n");
}

TEST_CASE("a queue that refuses jobs is shown once, in the batch system's own words") {
    Plan made = plan();
    made.held_queues = {{"main",
                         "qsub: in maintenance until 18:00",
                         1'790'000'000'000'000,
                         3,
                         1'790'000'060'000'000,
                         {"w1"}}};
    const std::string line =
        "Queue `main` takes no jobs since 2026-09-21T14:13:20.000000Z: qsub: in maintenance until 18:00 "
        "(one job is "
        "tried again from 2026-09-21T14:14:20.000000Z)\n";
    CHECK(render_plan(made, false).ends_with("1 have, 1 wanted\n" + line));
    CHECK(render_idle_tick(made).find(line) != std::string::npos);
    AttemptView view;
    view.attempt.id = "w1";
    CHECK(render_status({view}, 0, made.held_queues).ends_with(line));
    for (const auto& text : {render_plan_json(made), render_status_json({view}, made.held_queues)}) {
        const auto json = io::parse_json(text);
        REQUIRE(json.has_value());
        const auto& queues = *json->find("held_queues")->as_array();
        REQUIRE(queues.size() == 1);
        CHECK(queues[0].string_or("queue", "") == "main");
        CHECK(queues[0].int_or("tries", 0) == 3);
    }
}

TEST_CASE("a plan as JSON names its format, and an absent attempt is null") {
    const auto json = io::parse_json(render_plan_json(plan()));
    REQUIRE(json.has_value());
    CHECK(json->string_or("format", "") == "wheelyard.plan/1");
    const auto& cells = *json->find("cells")->as_array();
    CHECK(cells[0].string_or("attempt", "") == "w1");
    CHECK(cells[1].find("attempt")->is_null());
    CHECK(cells[1].string_or("state", "") == "wanted");
}

TEST_CASE("where sources come from is shown without secrets") {
    simple::PipConfig pip;
    pip.values["index-url"] = {"https://me:hunter2@h/simple", "PIP_INDEX_URL"};
    pip.values["proxy"] = {"me:hunter2@proxy:3128", "PIP_PROXY"};
    pip.values["cert"] = {"/etc/ca.pem", "PIP_CERT"};
    const std::string shown = render_pip_config(pip);
    CHECK(shown.find("hunter2") == std::string::npos);
    CHECK(shown.find("@proxy:3128") != std::string::npos);
    CHECK(shown.find("/etc/ca.pem") != std::string::npos);
    CHECK(shown.find("from PIP_INDEX_URL") != std::string::npos);
    CHECK(render_pip_config({}).find("pip's default") != std::string::npos);
}

TEST_CASE("what is shown says as of when, and how old the states are") {
    constexpr base::UnixMicros second = 1'000'000;
    CHECK(render_as_of(200 * second, 20 * second) ==
          "As of 1970-01-01T00:03:20Z; the last tick began 3 min 00 s ago.\n");
    CHECK(render_as_of(20 * second, 25 * second) ==
          "As of 1970-01-01T00:00:20Z; the last tick began 0.0 s ago.\n");
    CHECK(render_as_of(20 * second, std::nullopt) == "As of 1970-01-01T00:00:20Z; no tick has run yet.\n");
}

TEST_CASE("a status line has the activity of an attempt, its wait or its failure") {
    AttemptView view;
    view.attempt.state = State::running;
    view.progress = {"build", 1, 2};
    CHECK(render_activity(view) == "build [##########----------] 1/2");
    AttemptView at_work = view;
    at_work.attempt.job.governed = wire::GovernedBuild();  // nothing of it is worth a line yet
    CHECK(render_activity(at_work) == "build [##########----------] 1/2");
    view.attempt.state = State::uploading;
    view.attempt.waiting.reason = "down";
    CHECK(render_activity(view) == "uploading, waiting: down");
    view.attempt.waiting = {};
    view.attempt.state = State::failed;
    view.attempt.failure = Failure{"build", {"job.failed", "it broke"}, "x: error", true};
    CHECK(render_activity(view) == "failed in build: it broke [x: error]");
    AttemptView sent;
    sent.attempt.state = State::submitting;
    CHECK(render_activity(sent) == "submitting");
    sent.job = "Slurm job 4711 on n1, RUNNING";
    CHECK(render_activity(sent) == "submitted, Slurm job 4711 on n1, RUNNING");
    AttemptView without_tree = view;
    without_tree.attempt.tree.removed = 1;
    CHECK(render_activity(without_tree) ==
          "failed in build: it broke [x: error] (build tree removed: a retry starts from scratch)");
    AttemptView governed = view;
    governed.attempt.job.governed = wire::GovernedBuild();
    CHECK(render_activity(governed).find("failed in build: it broke [x: error]; governed: 0 compiles") == 0);
    CHECK(render_status({}, 0) == "No attempts yet.\n");
    CHECK(render_status({view}, 0).starts_with("ATTEMPT  CELL"));
    AttemptView claimed = view;
    claimed.claimed_task = "t5f0c9a31d2be";
    CHECK(render_status({view}, 0).find("of the registry") == std::string::npos);
    CHECK(render_status({claimed}, 0).find("(task t5f0c9a31d2be of the registry)\n") != std::string::npos);
    CHECK(render_status_json({claimed}).find("\"claimed_task\": \"t5f0c9a31d2be\"") != std::string::npos);
    AttemptView stuck = view;
    stuck.attempt.asked.cell = "demo-1.0-cp311";
    stuck.needs_person = "failed twice; decide";
    CHECK(render_status({stuck}, 0).ends_with("\ndemo-1.0-cp311 waits for a person: failed twice; decide\n"));
    CHECK(render_status_json({stuck}).find("\"needs_person\": \"failed twice; decide\"") !=
          std::string::npos);
    CHECK(render_status_json({view}).find("needs_person") == std::string::npos);
    const auto json = io::parse_json(render_status_json({view}));
    REQUIRE(json.has_value());
    CHECK(json->string_or("format", "") == "wheelyard.status/1");
}

TEST_CASE("a line feed in a reason begins no row") {
    Plan bad = plan();
    bad.cells.front().reason = "b\nc";
    CHECK(render_plan(bad, false).find(" b c\n") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
