// The tests and the promotion that follow a published wheel, as tables.
#include "builder/plan/plan.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

const std::string wheel_name = "demo-1.0-cp311-cp311-linux_x86_64.whl";

simple::FileLink wheel(char digest) {
    simple::FileLink file;
    file.filename = wheel_name;
    file.url = "http://h/main/files/" + wheel_name;
    file.sha256 = std::string(64, digest);
    return file;
}

Attempt attempt(const std::string& id, Purpose purpose, State state, char digest = 'a') {
    Attempt made;
    made.id = id;
    made.asked.cell = "demo-1.0-cp311-" + std::string(purpose_text(purpose));
    made.asked.purpose = purpose;
    made.asked.package = "demo";
    made.asked.version = "1.0";
    made.state = state;
    made.source.kind = "wheel";
    made.source.sha256 = std::string(64, digest);
    if (state == State::failed)
        made.failure = Failure{"test", {"job.failed", "it broke"}, "", true, "", 0, EndCause::failed};
    return made;
}

// A site with a GPU that runs all tests and promotes wheels, and a published wheel.
struct Scene {
    Site site;
    Recipe recipe = default_recipe("demo");
    World world;
    std::vector<Cell> plan = std::vector<Cell>(1);
    Cell& cell = plan.front();

    Scene() {
        site.name = "test";
        site.registry = RegistrySettings{"http://h", "staging", "token", "main", "other-token"};
        site.scheduler = find_scheduler_kind("slurm");
        site.hardware_tests = {QueueSettings(), QueueSettings()};
        site.accelerators = {Accelerator{"gpu", "cuda", {"sm_90"}, "cu126", {}, {}}};
        recipe.file = "demo.toml";
        recipe.accelerators = {"cuda"};
        recipe.gpu_test.command = "python -c pass";
        recipe.gpu_test.gpus_per_node = 1;
        world.promoted.emplace("demo", std::optional<simple::ProjectPage>());
        cell.name = "demo-1.0-cp311";
        cell.package = "demo";
        cell.version = "1.0";
        cell.python = "3.11";
        cell.accelerator = "gpu";
        cell.state = CellState::have;
        cell.wheel = wheel('a');
    }
    [[nodiscard]] std::vector<Cell> after() const {
        Recipes recipes;
        recipes.add(recipe);
        auto cells = with_tests_and_promotions(plan, {site, recipes, world});
        std::erase_if(cells, [](const Cell& one) { return one.purpose == Purpose::build; });
        return cells;
    }
    Scene(const Scene&) = delete;
    Scene& operator=(const Scene&) = delete;
    // "gpu-test: wanted; promotion: held"
    [[nodiscard]] std::string states() const {
        std::string text;
        for (const Cell& next : after()) {
            text += (text.empty() ? "" : "; ") + std::string(purpose_text(next.purpose)) + ": " +
                    std::string(cell_state_text(next.state));
        }
        return text;
    }
};

TEST_CASE("a test is a separate cell for exactly the wheel in the index") {
    const Scene scene;
    const auto cells = scene.after();
    REQUIRE(cells.size() == 2);
    CHECK(cells[0].name == "demo-1.0-cp311-gpu-test");
    CHECK(cells[0].purpose == Purpose::gpu_test);
    CHECK(cells[0].state == CellState::wanted);
    CHECK(cells[0].reason == wheel_name + " is not tested yet");
    CHECK(cells[0].wheel->sha256 == std::string(64, 'a'));
    CHECK(cells[1].name == "demo-1.0-cp311-promotion");
    CHECK(cells[1].state == CellState::held);
    CHECK(cells[1].reason == "after demo-1.0-cp311-gpu-test");
}

TEST_CASE("the states of tests and promotions follow from the evidence") {
    struct Row {
        const char* name;
        void (*arrange)(Scene&);
        const char* states;
    };
    const Row rows[] = {
        {"nothing is published", [](Scene& s) { s.cell.wheel.reset(); }, ""},
        {"the site runs no tests", [](Scene& s) { s.site.hardware_tests = {}; }, "promotion: wanted"},
        {"the recipe has none", [](Scene& s) { s.recipe.gpu_test = {}; }, "promotion: wanted"},
        {"no index to promote to", [](Scene& s) { s.site.registry->promote_to.clear(); }, "gpu-test: wanted"},
        {"for an accelerator without a GPU", [](Scene& s) { s.site.accelerators[0].kind = "cpu"; },
         "promotion: wanted"},
        {"several nodes too",
         [](Scene& s) {
             s.recipe.multi_node_test = {"x", 2, 4, 1, 30};
         },
         "gpu-test: wanted; multi-node-test: wanted; promotion: held"},
        {"several nodes on one machine",
         [](Scene& s) {
             s.recipe.multi_node_test = {"x", 2, 4, 1, 30};
             s.site.scheduler = find_scheduler_kind("local");
         },
         "gpu-test: wanted; multi-node-test: impossible; promotion: impossible"},
        {"in progress",
         [](Scene& s) { s.world.attempts = {attempt("w1", Purpose::gpu_test, State::running)}; },
         "gpu-test: active; promotion: held"},
        {"passed", [](Scene& s) { s.world.attempts = {attempt("w1", Purpose::gpu_test, State::done)}; },
         "gpu-test: have; promotion: wanted"},
        {"passed by a different file with this name",
         [](Scene& s) { s.world.attempts = {attempt("w1", Purpose::gpu_test, State::done, 'b')}; },
         "gpu-test: wanted; promotion: held"},
        {"failed once",
         [](Scene& s) { s.world.attempts = {attempt("w1", Purpose::gpu_test, State::failed)}; },
         "gpu-test: wanted; promotion: held"},
        {"failed too often",
         [](Scene& s) {
             s.site.max_attempts = 1;
             s.world.attempts = {attempt("w1", Purpose::gpu_test, State::failed)};
         },
         "gpu-test: given up; promotion: impossible"},
        {"to be run again",
         [](Scene& s) {
             s.world.attempts = {attempt("w1", Purpose::gpu_test, State::done)};
             s.world.attempts[0].superseded = true;
         },
         "gpu-test: wanted; promotion: held"},
        {"promoted, and to be run again",
         [](Scene& s) {
             s.world.promoted.insert_or_assign("demo", std::optional(simple::ProjectPage{{wheel('a')}}));
         },
         "gpu-test: wanted; promotion: have"},
        {"the index has a different file with this name",
         [](Scene& s) {
             s.world.promoted.insert_or_assign("demo", std::optional(simple::ProjectPage{{wheel('b')}}));
         },
         "gpu-test: wanted; promotion: given up"},
        {"promoted and then removed",
         [](Scene& s) {
             s.world.attempts = {attempt("w1", Purpose::gpu_test, State::done),
                                 attempt("w2", Purpose::promotion, State::done)};
         },
         "gpu-test: have; promotion: given up"},
        {"promoted with its set and then removed",
         [](Scene& s) {
             s.world.attempts = {attempt("w1", Purpose::gpu_test, State::done),
                                 attempt("w2", Purpose::promotion, State::done)};
             s.world.attempts[1].asked.cell = "base-1.0-cp311-promotion";
             s.world.attempts[1].asked.with = {wheel_name};
         },
         "gpu-test: have; promotion: given up"},
        {"the registry does not answer",
         [](Scene& s) { s.world.promoted.insert_or_assign("demo", base::fail("http.connect", "no answer")); },
         "gpu-test: wanted; promotion: unknown"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.name);
        Scene scene;
        row.arrange(scene);
        CHECK(scene.states() == row.states);
    }
}

TEST_CASE("a wheel of two cells is promoted after the tests of both have passed") {
    Scene scene;
    Cell second = scene.cell;
    second.python = "3.12";
    second.name = "demo-1.0-cp312";
    std::vector<Cell> both = {scene.cell, second};
    Recipes recipes;
    recipes.add(scene.recipe);
    Attempt other = attempt("w2", Purpose::gpu_test, State::running);
    other.asked.cell = "demo-1.0-cp312-gpu-test";
    const auto promotions = [&] {
        std::string text;
        for (const Cell& cell : with_tests_and_promotions(both, {scene.site, recipes, scene.world})) {
            if (cell.purpose == Purpose::promotion) text += std::string(cell_state_text(cell.state)) + " ";
        }
        return text;
    };
    scene.world.attempts = {attempt("w1", Purpose::gpu_test, State::done), other};
    CHECK(promotions() == "held held ");
    scene.world.attempts[1].state = State::done;
    CHECK(promotions() == "wanted wanted ");
    both[1].wheel = wheel('b');  // different wheels: each waits for its own tests
    scene.world.attempts[1].state = State::running;
    CHECK(promotions() == "wanted held ");
}

}  // namespace
}  // namespace wheelyard::builder
