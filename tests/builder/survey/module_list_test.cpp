#include "builder/survey/survey.hpp"

#include <doctest/doctest.h>

#include "lib/accelerator/cuda.hpp"
#include "lib/accelerator/rocm.hpp"
#include "lib/accelerator/xpu.hpp"

namespace wheelyard::builder {
namespace {

std::vector<std::string> names(const std::vector<AvailableModule>& modules) {
    std::vector<std::string> all;
    for (const auto& module : modules)
        all.push_back(module.full_name());
    return all;
}
using Names = std::vector<std::string>;

TEST_CASE("the list of a real Lmod 8.6: folders and heads are no modules, each module once") {
    const auto modules = parse_modules(
        "/opt/modulefiles:\nPrgEnv-gnu/\nPrgEnv-gnu/8.5.0\ncuda/\ncuda/12.3.2\ngcc/\ngcc/12.2\ngcc/13.1\n"
        "openmpi/\nopenmpi/4.1.6\npython/\npython/3.11\nPrgEnv-gnu/\nPrgEnv-gnu/8.5.0\ngcc/12.2\nlmod\n");
    CHECK(names(modules) == Names{"PrgEnv-gnu/8.5.0", "cuda/12.3.2", "gcc/12.2", "gcc/13.1", "openmpi/4.1.6",
                                  "python/3.11", "lmod"});
}

TEST_CASE("marks of Environment Modules and Lmod are not part of a name; messages are no modules") {
    const auto modules = parse_modules(
        "gcc/12.2(default)\ncuda/12.3 <aL>\nrocm/6.0@\nLmod has detected the following error: x\n"
        "Using a database of modules\n\n-\n@init /etc/profile\n$(touch x)\n");
    CHECK(names(modules) == Names{"gcc/12.2", "cuda/12.3", "rocm/6.0"});
    CHECK(modules[0].is_default);
    CHECK(!modules[1].is_default);
}

TEST_CASE("the best module of a role: GNU, then the default, then the highest version") {
    const auto modules = parse_modules(
        "gcc/9.4\ngcc/13.1\ngcc/12.2(default)\nintel/2024\nGCC/14.1\ncompiler/gcc/11\nnvidia/cuda/12.10\n"
        "nvidia/cuda/12.9\nnvidia/cuda/latest\nopenmpi/5.0\ncray-mpich/8.1\npython-gcc/1\ncray-python/"
        "3.11.5\n");
    CHECK(names(modules_of(ModuleRole::compiler, modules)) ==
          Names{"gcc/12.2", "GCC/14.1", "gcc/13.1", "compiler/gcc/11", "gcc/9.4"});
    CHECK(names(modules_of(ModuleRole::toolkit(accelerator::cuda::kind), modules)) ==
          Names{"nvidia/cuda/12.10", "nvidia/cuda/12.9", "nvidia/cuda/latest"});
    CHECK(names(modules_of(ModuleRole::mpi, modules)) == Names{"cray-mpich/8.1", "openmpi/5.0"});
    CHECK(names(modules_of(ModuleRole::python, modules)) == Names{"cray-python/3.11.5"});
    CHECK(modules_of(ModuleRole::toolkit(accelerator::rocm::kind), modules).empty());
}

TEST_CASE("the modules of oneAPI are found by their whole name, at Aurora and at Dawn") {
    const ModuleRole oneapi = ModuleRole::toolkit(accelerator::xpu::kind);
    const auto aurora = parse_modules(
        "intel_compute_runtime/release/1057.13\noneapi/release/2024.07.30.002\noneapi/release/2025.0.5\nfrom/"
        "release/3\n");
    CHECK(names(modules_of(oneapi, aurora)) ==
          Names{"oneapi/release/2025.0.5", "oneapi/release/2024.07.30.002"});
    const auto dawn =
        parse_modules("intel-oneapi-compilers/2024.0.0/gcc/znjudqsi\nintel-oneapi-mkl/2024.0.0\n");
    CHECK(names(modules_of(oneapi, dawn)) == Names{"intel-oneapi-compilers/2024.0.0/gcc/znjudqsi"});
}

TEST_CASE("a Cray's programming environment is preferred to its compilers") {
    const auto modules = parse_modules("gcc/12.2\nPrgEnv-cray/8.5\nPrgEnv-gnu/8.5.0\n");
    const auto best = modules_of(ModuleRole::compiler, modules);
    REQUIRE(!best.empty());
    CHECK(best.front().full_name() == "PrgEnv-gnu/8.5.0");
    CHECK(is_programming_environment(best.front()));
    CHECK(!is_programming_environment(best.back()));
}

}  // namespace
}  // namespace wheelyard::builder
