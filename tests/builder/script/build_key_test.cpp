// A build resumes only with the settings that its tree was started with.
#include "builder/script/script.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("every setting that affects the objects changes the key") {
    struct Inputs {
        Site site;
        Recipe recipe;
        std::filesystem::path python = "/usr/bin/python3";
        std::vector<std::string> constraints = {"cmake<4"};
        [[nodiscard]] std::string key() const { return build_key(site, recipe, python, constraints); }
    };
    Inputs first;
    first.site.environment = {{"CC", "gcc-12"}};
    first.site.pythons = {{"3.12", "", "module"}};
    first.site.accelerators = {Accelerator()};
    first.recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "9.0"}};
    first.recipe.build_requires = {"numpy"};
    first.recipe.beside = {{"nccl", "https://example.org/nccl", "v2.21.5-1"}};
    const std::vector<std::pair<const char*, std::function<void(Inputs&)>>> changes = {
        {"the interpreter", [](Inputs& one) { one.python = "/opt/python3"; }},
        {"a variable of the site",
         [](Inputs& one) {
             one.site.environment = {{"CC", "gcc-13"}};
         }},
        {"a variable of the recipe",
         [](Inputs& one) {
             one.recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "9.0a"}};
         }},
        {"a variable of the accelerator",
         [](Inputs& one) {
             one.site.accelerators[0].environment = {{"NCCL_NET", "x"}};
         }},
        {"a GPU of the accelerator", [](Inputs& one) { one.site.accelerators[0].architectures = {"sm_90"}; }},
        // The same words in another list are a different setting.
        {"variables that changed places",
         [](Inputs& one) { std::swap(one.site.environment, one.recipe.build_environment); }},
        {"a build requirement", [](Inputs& one) { one.recipe.build_requires.emplace_back("scipy"); }},
        {"another bound", [](Inputs& one) { one.constraints = {"cmake<5"}; }},
        {"no bound", [](Inputs& one) { one.constraints.clear(); }},
        {"a bound as a requirement",
         [](Inputs& one) { std::swap(one.constraints, one.recipe.build_requires); }},
        {"a step before", [](Inputs& one) { one.recipe.before = {"true"}; }},
        {"a configuration", [](Inputs& one) { one.recipe.configure = {"true"}; }},
        {"the front end", [](Inputs& one) { one.recipe.front_end = "setup-py"; }},
        {"the user's home", [](Inputs& one) { one.recipe.home = BuildHome::user; }},
        {"a repository beside", [](Inputs& one) { one.recipe.beside[0].tag = "v2.22.3-1"; }},
        {"a module of the site", [](Inputs& one) { one.site.modules.load = {"gcc/12.2"}; }},
        {"the definition of module", [](Inputs& one) { one.site.modules.init = "/opt/lmod/init/bash"; }},
        {"a purge of modules", [](Inputs& one) { one.site.modules.purge = true; }},
        {"a folder of modules", [](Inputs& one) { one.site.modules.use = {"/opt/modules"}; }},
        {"a module of Python", [](Inputs& one) { one.site.pythons[0].modules = {"python/3.12.4"}; }},
        {"a module of the accelerator",
         [](Inputs& one) { one.site.accelerators[0].modules = {"cuda/12.2"}; }},
        {"the MPI compiler", [](Inputs& one) { one.site.compilers.mpi_c = "cc -shared"; }},
        {"the C compiler", [](Inputs& one) { one.site.compilers.c = "cc"; }},
    };
    std::set<std::string> keys = {first.key()};
    CHECK(keys.contains(Inputs(first).key()));
    for (const auto& [what, change] : changes) {
        INFO(std::string(what));
        Inputs other = first;
        change(other);
        CHECK(keys.insert(other.key()).second);
    }
}

TEST_CASE("is_built_by rejects an attempt without a key or with a different key") {
    const base::TempDir dir = *base::TempDir::make("key");
    AttemptFolder folder;
    folder.root = dir.path();
    CHECK_FALSE(is_built_by(folder, "abc"));
    testing::write(folder.build_key(), "abc\n");
    CHECK(is_built_by(folder, "abc"));
    CHECK_FALSE(is_built_by(folder, "abd"));
}

}  // namespace
}  // namespace wheelyard::builder
