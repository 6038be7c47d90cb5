// The setup of a job, run by a real bash where it has effects.
#include "builder/site/script_setup.hpp"

#include <doctest/doctest.h>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("a site without modules and Conda needs no setup") {
    const PythonChoice venv{"3.11", "python3.11"};
    CHECK(render_setup({}, nullptr, nullptr, "begin").empty());
    CHECK(render_setup({}, &venv, nullptr, "begin").empty());
}

TEST_CASE("Conda is activated, and a job ends where it was not") {
    const auto folder = *base::TempDir::make("conda");
    PythonChoice python{"3.11", "python", "conda"};
    python.conda = folder.path();
    python.conda_environment = folder.path() / "envs/my env";
    const auto run = [&](const std::string& activate) {
        testing::write(folder.path() / "etc/profile.d/conda.sh", "conda() { " + activate + "; }\n");
        base::Command command;
        command.argv = {"/bin/bash", "-euc",
                        "begin() { echo \"phase $1\"; }\n" + render_setup({}, &python, nullptr, "begin") +
                            "echo \"$CONDA_PREFIX\"\n"};
        return base::run_command(command).value();
    };
    const auto good = run("test \"$1\" = activate && CONDA_PREFIX=$2");
    CHECK(good.exit_code == 0);
    CHECK(good.out == "phase conda\n" + python.conda_environment.string() + "\n");
    const auto bad = run("true");
    CHECK(bad.exit_code == 69);
    CHECK(bad.err.find("conda did not activate its environment") != std::string::npos);
}

TEST_CASE("a recipe's commands get the architectures and PyTorch's device of the accelerator") {
    Site site;
    const auto add = [&](const std::string& name, const std::string& kind,
                         std::vector<std::string> architectures) {
        Accelerator& one = site.accelerators.emplace_back();
        one.name = name;
        one.kind = kind;
        one.architectures = std::move(architectures);
    };
    add("h100", "cuda", {"sm_90", "sm_100"});
    add("mi250", "rocm", {"gfx90a", "gfx942"});
    add("pvc", "xpu", {"pvc", "bmg-g21"});
    const auto filled = [&](const std::string& accelerator) {
        return fill_placeholders(
            "{torch_device} {cuda_architectures} {rocm_architectures} {xpu_architectures}",
            placeholders_of({site, "1.0", "", accelerator}));
    };
    CHECK(filled("") == "cpu   ");
    CHECK(filled("cpu") == "cpu   ");
    CHECK(filled("h100") == "cuda 9.0;10.0  ");
    CHECK(filled("mi250") == "cuda  gfx90a;gfx942 ");
    CHECK(filled("pvc") == "xpu   pvc,bmg-g21");
}

TEST_CASE(
    "what modulefiles read is exported before they are loaded, and set for users before their modules") {
    Site site;
    site.modules.purge = true;
    site.modules.load = {"LUMI/25.03"};
    site.modules.environment = {{"EBU_USER_PREFIX", "/project/p1/Easy Build"}, {"OF_JOB", "${HOME}/x"}};
    base::Command command;
    command.argv = {"/bin/bash", "-euc",
                    "module() { echo \"$* ${EBU_USER_PREFIX-} ${OF_JOB-}\"; LOADEDMODULES=LUMI/25.03; }\n" +
                        std::string("HOME=/h\n") + render_setup(site, nullptr, nullptr, "")};
    const auto done = base::run_command(command);
    REQUIRE(done.has_value());
    CHECK_MESSAGE(done->exit_code == 0, done->err);
    CHECK(done->out == "purge  \nload LUMI/25.03 /project/p1/Easy Build /h/x\n");
}

TEST_CASE("the modules of a job are loaded in their order, and one that is not loaded ends it") {
    Site site;
    site.modules.load = {"gcc/12", "cuda"};
    const PythonChoice python{"3.11", "python", "module", {}, {}, {"python/3.11"}};
    const auto run = [&](const std::string& loaded) {
        base::Command command;
        command.argv = {"/bin/bash", "-euc",
                        "module() { echo \"$*\"; LOADEDMODULES=" + loaded + "; }\n" +
                            render_setup(site, &python, nullptr, "")};
        return base::run_command(command).value();
    };
    const auto good = run("gcc/12:cuda/12.4:python/3.11.5");
    CHECK(good.exit_code == 0);
    CHECK(good.out == "load gcc/12 cuda python/3.11\n");
    const auto bad = run("gcc/12:cuda/12.4");
    CHECK(bad.exit_code == 69);
    CHECK(bad.err.find("module python/3.11 is not loaded") != std::string::npos);
}

TEST_CASE("a build above the lowest processor of its machine notes that in what it links") {
    Site site;
    const auto linker = [&](const Environment& recipe) -> std::string {
        std::string found = "none";
        for (const auto& group : exports_of_build(site, nullptr, recipe, {})) {
            for (const auto& [name, value] : group.variables) {
                if (name == "LDFLAGS") found = value;
            }
        }
        return found;
    };
    CHECK(linker({}) == "none");
    CHECK(linker({{"CFLAGS", "-O3 -mtune=haswell"}}) == "none");
    // What a module or Conda has set stays.
    CHECK(linker({{"CFLAGS", "-O3 -march=haswell"}}) == "${LDFLAGS-} -Wl,-z,x86-64-v3");
    site.environment = {{"CXXFLAGS", "-march=skylake-avx512"}, {"LDFLAGS", "-L/opt/lib"}};
    CHECK(linker({}) == "-L/opt/lib -Wl,-z,x86-64-v4");
    // The recipe's takes the place of the site's.
    CHECK(linker({{"CXXFLAGS", "-O2"}}) == "-L/opt/lib");
    // No such note on ARM, and none for a processor that is not named.
    site.environment = {{"CFLAGS", "-mcpu=neoverse-v2"}};
    CHECK(linker({}) == "none");
    site.environment = {{"CFLAGS", "-march=native"}};
    CHECK(linker({}) == "none");
}

}  // namespace
}  // namespace wheelyard::builder
