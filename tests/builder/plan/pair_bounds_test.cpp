// Version pairs in the plan: what the machine lacks makes a cell impossible, with the row and its source.
#include "builder/plan/pair_bounds.hpp"

#include <doctest/doctest.h>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {
namespace {

struct Scene {
    Site site;
    Recipe recipe;
    Python python;
    std::string version = "2.4.0";
    std::string accelerator = "a100";

    Scene() {
        const auto pairs = read_version_pairs(std::filesystem::path(WHEELYARD_TEST_DATA) /
                                              "../site-configs/common/versions.toml");
        REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
        site.version_pairs = *pairs;
        site.provided_versions = {{"libfabric", "1.15.2.0"}};
        site.modules.load = {"gcc/12.2.0", "ncarcompilers", "conda/latest"};
        site.accelerators = {{"a100", "cuda", {"sm_80"}, "a100", {"cuda/12.2.1", "cudnn/9.2.0.82-12"}, {}}};
        recipe.package = "torch";
        recipe.beside = {{"nccl", "https://n", "v2.21.5-1"}, {"aws-ofi-nccl", "https://a", "v1.6.0"}};
        python.full_version = "3.12.1";
    }
    [[nodiscard]] std::string misfit() const {
        const auto found = find_misfit({site, recipe, *wheel::Version::parse(version), python, accelerator});
        return found.value_or("");
    }
};

TEST_CASE("a machine outside a row's bound is named with the row, its source and its place") {
    struct Row {
        const char* what;
        void (*change)(Scene&);
        const char* reason;
    };
    const Row rows[] = {
        {"all fits", [](Scene&) {}, ""},
        {"Python", [](Scene& s) { s.python.full_version = "3.13.0"; },
         "the site has python 3.13.0, it needs python>=3.8,<3.13"},
        {"old torch", [](Scene& s) { s.version = "1.13.1"; },
         "the site has python 3.12.1, it needs python>=3.7,<3.12"},
        {"label", [](Scene& s) { s.version = "1.13.1+a100"; }, "python>=3.7,<3.12 (torch==1.13.*"},
        {"cuDNN 9 with torch 2.3", [](Scene& s) { s.version = "2.3.1"; },
         "the site has cudnn 9.2.0.82, it needs cudnn>=8.7,<9"},
        {"CUDA", [](Scene& s) { s.site.accelerators[0].modules[0] = "cuda/12.8"; }, "the site has cuda 12.8"},
        {"another accelerator has no CUDA", [](Scene& s) { s.accelerator = ""; }, ""},
        {"the plugin for AWS", [](Scene& s) { s.recipe.beside[1].tag = "v1.11.0-aws"; },
         "the site has libfabric 1.15.2.0, it needs libfabric>=1.18 (aws-ofi-nccl>=1.8,<1.14: the releases "
         "of this "
         "series are for AWS instances alone; https://github.com/aws/aws-ofi-nccl/releases; "},
        {"NCCL", [](Scene& s) { s.recipe.beside[0].tag = "v2.22.3-1"; },
         "the site has nccl 2.22.3, it needs nccl>=2.4.8,<2.22"},
        {"an unknown version violates nothing",
         [](Scene& s) {
             s.site.accelerators[0].modules = {"cuda", "cudnn"};
         },
         ""},
        {"no version pairs",
         [](Scene& s) {
             s.site.version_pairs.clear();
             s.version = "1.13.1";
         },
         ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        row.change(scene);
        const std::string found = scene.misfit();
        CHECK_MESSAGE((*row.reason == '\0' ? found.empty() : found.find(row.reason) != std::string::npos),
                      found);
    }
}

TEST_CASE("versions that no row covers are unknown, with the nearest row") {
    struct Row {
        const char* what;
        void (*change)(Scene&);
        const char* reason;
        const char* nearest;
    };
    const Row rows[] = {
        {"covered", [](Scene&) {}, "", ""},
        {"a torch newer than the table", [](Scene& s) { s.version = "2.16.0"; },
         "no row for torch 2.16.0 with cuda 12.2.1", "cuda>=13.0,<13.3 (torch==2.15.*"},
        {"the next major version",
         [](Scene& s) {
             s.version = "3.0";
             s.accelerator = "";
         },
         "no row for torch 3.0 with python 3.12.1", "python>=3.11,<3.16 (torch==2.15.*"},
        {"older than the table", [](Scene& s) { s.version = "1.9.1"; },
         "no row for torch 1.9.1 with cuda 12.2.1", "(torch==1.13.*"},
        {"a ROCm that no row names",
         [](Scene& s) {
             s.version = "2.15.0";
             s.site.accelerators = {{"a100", "rocm", {"gfx90a"}, "x", {"rocm/7.2.0"}, {}}};
         },
         "no row for torch 2.15.0 with rocm 7.2.0", "rocm==7.14.* (torch==2.14.*"},
        {"the module of Cray",
         [](Scene& s) {
             s.version = "2.16.0";
             s.site.accelerators[0].modules = {"cudatoolkit/11.0"};
         },
         "no row for torch 2.16.0 with cuda 11.0", ""},
        {"a version that is not named",
         [](Scene& s) {
             s.version = "2.16.0";
             s.site.accelerators[0].modules = {};
             s.python.full_version = "";
         },
         "", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        row.change(scene);
        const auto found = find_unknown({scene.site, scene.recipe, *wheel::Version::parse(scene.version),
                                         scene.python, scene.accelerator});
        CHECK((found ? found->reason : "") == row.reason);
        if (found) CHECK_MESSAGE(found->nearest.find(row.nearest) != std::string::npos, found->nearest);
    }
    Scene cray;
    cray.site.accelerators[0].modules = {"cudatoolkit/11.0"};
    CHECK(cray.misfit().find("the site has cuda 11.0, it needs cuda>=11.8,<12.5") == 0);
    cray.site.accelerators[0].modules = {"cudatoolkit/24.11_12.6"};  // HPC SDK 24.11 with CUDA 12.6
    CHECK(cray.misfit().find("the site has cuda 12.6, it needs cuda>=11.8,<12.5") == 0);
    Scene rocm;
    rocm.version = "2.9.0";
    rocm.site.accelerators = {{"a100", "rocm", {"gfx90a"}, "x", {"rocm/5.7.1"}, {}}};
    CHECK(rocm.misfit().find("the site has rocm 5.7.1, it needs rocm==6.4.*") == 0);
}

TEST_CASE("a site decides whether unknown cells build, and a range takes what is known") {
    Scene scene;
    Site site = scene.site;
    site.pythons = {{"3.12", "python3.12"}};
    site.wants = {{"torch", {"2.16.0", ">=2"}, {"3.12"}}};
    Recipe torch = scene.recipe;
    torch.file = "torch.toml";
    torch.accelerators = {"cuda"};
    Recipes recipes;
    recipes.add(torch);
    World world;
    world.pythons.emplace("3.12", scene.python);
    SdistOffers offers;
    for (const char* version : {"2.4.0", "2.5.1", "2.16.0"}) {
        SdistOffer offer;
        offer.version = *wheel::Version::parse(version);
        offers.sdists.push_back(offer);
    }
    world.offers.emplace("torch", offers);
    Plan plan = make_plan(site, recipes, world);
    REQUIRE(plan.cells.size() == 2);
    CHECK(plan.cells[0].state == CellState::unknown);
    CHECK(plan.cells[0].reason.find("no row for torch 2.16.0 with cuda 12.2.1; `build_unknown = true`") == 0);
    CHECK(plan.cells[0].bounds.front().find("nearest row: cuda>=13.0,<13.3") == 0);
    CHECK(plan.cells[1].version == "2.5.1");
    site.build_unknown = true;
    plan = make_plan(site, recipes, world);
    REQUIRE(plan.cells.size() == 1);
    CHECK(plan.cells[0].version == "2.16.0");
    CHECK(plan.cells[0].state == CellState::wanted);
}

TEST_CASE("the plan cites the rows that bound a cell, and a misfit makes it impossible") {
    Scene scene;
    Site site = scene.site;
    site.pythons = {{"3.12", "python3.12"}};
    site.wants = {{"torch", {"2.4.0", "1.13.1"}, {"3.12"}}};
    Recipe torch = scene.recipe;
    torch.file = "torch.toml";
    torch.accelerators = {"cuda"};
    Recipes recipes;
    recipes.add(torch);
    World world;
    world.pythons.emplace("3.12", scene.python);
    const Plan plan = make_plan(site, recipes, world);
    REQUIRE(plan.cells.size() == 2);
    CHECK(plan.cells[0].state == CellState::wanted);
    REQUIRE(!plan.cells[0].bounds.empty());
    CHECK(plan.cells[0].bounds[0].find("cmake<4 by ") == 0);
    CHECK(plan.cells[0].bounds[0].find("versions.toml:") != std::string::npos);
    CHECK(plan.cells[1].state == CellState::impossible);
    CHECK(plan.cells[1].reason.find("https://packages.debian.org/bookworm/python3-torch") !=
          std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
