// Sets of wheels that are promoted in one request, as tables.
#include "builder/plan/plan.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

// A package of version 1 with build, GPU test and promotion; its wheel is tested and not promoted yet.
struct Package {
    Cell build, test, promotion;

    explicit Package(const std::string& name, const std::string& against = "") {
        build.name = name + "-1-cp311";
        build.package = name;
        build.version = "1";
        build.python = "3.11";
        build.accelerator = "gpu";
        build.against = against;
        build.state = CellState::have;
        build.wheel.emplace();
        build.wheel->filename = name + ".whl";
        test = promotion = build;
        test.purpose = Purpose::gpu_test;
        test.name += "-gpu-test";
        promotion.purpose = Purpose::promotion;
        promotion.name += "-promotion";
        promotion.state = CellState::wanted;
        promotion.reason = "not in index `main`";
    }
    void fail_test(CellState state, const std::string& reason) {
        test.state = state;
        test.reason = reason;
        promotion.state = state == CellState::given_up ? CellState::impossible : CellState::held;
    }
    // Without a wheel there are no tests and no promotion.
    void lose_wheel(CellState state) {
        build.wheel.reset();
        build.state = state;
    }
};

// torch with its companions, in the order of a site file that names a companion first.
struct Packages {
    Package vision{"vision", "torch==1"};
    Package torch{"torch"};
    Package audio{"audio", "torch==1"};

    [[nodiscard]] std::vector<Cell> planned() const {
        std::vector<Cell> cells;
        for (const Package* package : {&vision, &torch, &audio}) {
            cells.push_back(package->build);
            if (!package->build.wheel) continue;
            cells.push_back(package->test);
            cells.push_back(package->promotion);
        }
        RegistrySettings registry;
        registry.index = "staging";
        promote_as_sets(cells, registry);
        std::erase_if(cells, [](const Cell& cell) { return cell.purpose != Purpose::promotion; });
        return cells;
    }
    // "vision held; torch wanted with vision.whl audio.whl; audio held; "
    [[nodiscard]] std::string states() const {
        std::string text;
        for (const Cell& cell : planned()) {
            text += cell.package + " " + std::string(cell_state_text(cell.state));
            for (const auto& filename : cell.with)
                text += (filename == cell.with.front() ? " with " : " ") + filename;
            text += cell.awaits_others ? " (others); " : "; ";
        }
        return text;
    }
};

TEST_CASE("a set is promoted in one request, for the package that the others are built against") {
    const Packages all;
    CHECK(all.states() == "vision held; torch wanted with vision.whl audio.whl; audio held; ");
    const auto cells = all.planned();
    CHECK(cells[0].reason == "torch-1-cp311-promotion promotes it, with its set");
    CHECK(cells[1].reason == "not in index `main`; with vision.whl, audio.whl");
}

TEST_CASE("a member that is not ready keeps the whole set in staging") {
    struct Row {
        const char* name;
        void (*arrange)(Packages&);
        const char* states;
    };
    const Row rows[] = {
        {"a test is running", [](Packages& p) { p.audio.fail_test(CellState::active, ""); },
         "vision held; torch held; audio held; "},
        {"a test is given up", [](Packages& p) { p.audio.fail_test(CellState::given_up, ""); },
         "vision impossible; torch impossible; audio impossible; "},
        {"the test of the package itself is given up",
         [](Packages& p) { p.torch.fail_test(CellState::given_up, ""); },
         "vision impossible; torch impossible; audio impossible; "},
        {"one build is wanted", [](Packages& p) { p.audio.lose_wheel(CellState::wanted); },
         "vision held; torch held; "},
        {"one build is given up", [](Packages& p) { p.audio.lose_wheel(CellState::given_up); },
         "vision impossible; torch impossible; "},
        {"one build is impossible", [](Packages& p) { p.audio.lose_wheel(CellState::impossible); },
         "vision impossible; torch impossible; "},
        {"one wheel is in the staging index of a task",
         [](Packages& p) { p.audio.lose_wheel(CellState::have); },
         "vision held (others); torch held (others); "},
        {"the source of one does not answer", [](Packages& p) { p.audio.lose_wheel(CellState::unknown); },
         "vision held (others); torch held (others); "},
        {"the target has another file of that name",
         [](Packages& p) { p.audio.promotion.state = CellState::given_up; },
         "vision impossible; torch impossible; audio given up; "},
        {"its promotion waits for the registry",
         [](Packages& p) { p.torch.promotion.state = CellState::active; },
         "vision held; torch active; audio held; "},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        Packages packages;
        row.arrange(packages);
        CHECK(packages.states() == row.states);
    }
}

TEST_CASE("the reason names the member that failed, and why") {
    Packages all;
    all.vision.fail_test(CellState::active, "running");
    all.audio.fail_test(CellState::given_up, "1 of 1 attempts failed");
    for (const Cell& cell : all.planned()) {
        if (cell.package == "torch")
            CHECK(cell.reason ==
                  "its set stays in index `staging`: audio-1-cp311-gpu-test is given up (1 of 1 attempts "
                  "failed)");
    }
}

TEST_CASE("what is promoted already, belongs to another set or is excluded holds nothing") {
    Packages all;
    all.torch.promotion.state = CellState::have;
    CHECK(all.states() == "vision wanted with audio.whl; torch have; audio held; ");
    all.vision.promotion.state = CellState::have;
    CHECK(all.states() == "vision have; torch have; audio wanted; ");

    Packages others;
    others.audio.fail_test(CellState::given_up, "");
    others.audio.build.python = "3.12";
    CHECK(others.states() == "vision held; torch wanted with vision.whl; audio impossible; ");

    Packages without;
    without.audio.lose_wheel(CellState::excluded);
    without.audio.build.against.clear();  // the plan looks for nothing to build an excluded cell against
    CHECK(without.states() == "vision held; torch wanted with vision.whl; ");
}

TEST_CASE("what is built against a companion is of the same set") {
    Packages all;
    all.audio.build.against = "vision==1";
    CHECK(all.states() == "vision held; torch wanted with vision.whl audio.whl; audio held; ");
    all.audio.fail_test(CellState::given_up, "");
    CHECK(all.states() == "vision impossible; torch impossible; audio impossible; ");
}

}  // namespace
}  // namespace wheelyard::builder
