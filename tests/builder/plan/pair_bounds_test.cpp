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
