#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("checks run in order, and the first failure is reported") {
    struct Case {
        const char* filename;
        const char* facts;
        const char* answer;
    };
    for (const auto& [filename, facts, answer] : {
             Case{"six-1.17.0-py2.py3-none-any.whl", "", "yes"},
             Case{x86, "", "unknown facts"},  // the name of a linux_* wheel promises nothing
             Case{x86, "{}", "yes"},
             Case{"torch-2.4.0-cp311-cp311-linux_aarch64.whl", "", "no machine"},
             Case{"torch-2.4.0-cp312-cp312-linux_x86_64.whl", "", "no python"},
             Case{"torch-2.4.0-cp312-cp312-linux_aarch64.whl", "", "no machine"},
             Case{"a-1-cp38-abi3-manylinux_2_17_x86_64.whl", "", "yes"},
             Case{"a-1-cp311-cp311-manylinux_2_38_x86_64.whl", "", "no glibc"},
             Case{"a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux_2_38_x86_64.whl", "", "yes"},
             Case{"a-1-cp311-cp311-musllinux_1_2_x86_64.whl", "", "no libc"},
             Case{"six-1.17.0-py2.py3-none-any-x8664v3.whl", "", "no variant"},
             Case{"torch-2.4.0-1-cp311-cp311-linux_x86_64-cu126.whl", "", "no variant"},
             Case{"a-1-py3-none-any.whl", R"({"machines":["cuda"]})", "yes"},
             Case{"a-1-py3-none-any.whl", R"({"machines":["aarch64","cuda"]})", "no machine"},
             Case{x86, R"({"symbol_floors":{"GLIBC":"2.38"}})", "no glibc"},
             Case{x86, R"({"symbol_floors":{"GLIBC":"2.36"}})", "yes"},
             Case{"a-1-py3-none-any.whl",
                  R"({"machines":["aarch64","x86_64"],"symbol_floors":{"GLIBC":"2.38"}})", "unknown glibc"},
             Case{x86, R"({"isa_needed":"x86-64-v4"})", "yes"},
             Case{x86, R"({"cuda_sm":["sm_80","sm_90"]})", "yes"},
             Case{x86, R"({"cuda_sm":["sm_80"]})", "no gpu"},
             Case{x86, R"({"cuda_sm":["sm_80"],"cuda_ptx":["compute_80"]})", "yes"},
             Case{x86, R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.12"]}})", "yes"},
             Case{x86, R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.13"]}})", "no driver"},
             Case{x86, R"({"hip_gfx":["gfx90a"]})", "no gpu"},
             Case{"torch-2.4.0+rocm5.7-cp311-cp311-linux_x86_64.whl", "", "no gpu"},
             Case{"torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl", "", "unknown gpu"},
             Case{"torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl", R"({"cuda_sm":["sm_90"]})", "yes"},
             // Minor version compatibility excludes PTX: the 12.4 driver cannot compile PTX from 12.6.
             Case{"torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl", R"({"cuda_ptx":["compute_80"]})",
                  "no driver"},
             Case{"torch-2.4.0+cu124-cp311-cp311-linux_x86_64.whl", R"({"cuda_ptx":["compute_80"]})", "yes"},
             Case{"torch-2.4.0+cu130-cp311-cp311-linux_x86_64.whl", R"({"cuda_sm":["sm_90"]})", "no driver"},
             Case{"torch-1.13.0+cu118-cp311-cp311-linux_x86_64.whl", R"({"cuda_sm":["sm_90"]})", "yes"},
             Case{x86, R"({"needed":{"mpi":["libmpi.so.40"]}})", "yes"},
             Case{x86, R"({"needed":{"mpi":["libmpi_gnu_91.so.12"]}})", "no mpi"},
             Case{x86, R"({"needed":{"mpi":["libmpi_of_someone.so"]},"modules":["x/1"]})", "no mpi"},
             Case{x86, "not JSON", "unknown facts"},
         }) {
        CAPTURE(filename);
        CAPTURE(facts);
        CHECK(found(wheel_of(filename, facts), h100()) == answer);
    }
}

TEST_CASE("unknown node properties make a wheel unknown and never exclude it") {
    const Node nothing;
    for (const char* facts : {R"({"symbol_floors":{"GLIBC":"2.99"}})", R"({"isa_needed":"x86-64-v4"})",
                              R"({"cuda_sm":["sm_70"]})", R"({"needed":{"mpi":["libmpi.so.40"]}})"}) {
        CAPTURE(facts);
        CHECK(judge(wheel_of(x86, facts), nothing, {}).runs == Runs::unknown);
    }
    // Without a Python, as with a broken one, nothing is known to run.
    CHECK(found(wheel_of("six-1.17.0-py2.py3-none-any.whl"), nothing) == "unknown python");
    Node every_python;
    every_python.any_python = true;
    CHECK(found(wheel_of("six-1.17.0-py2.py3-none-any.whl"), every_python) == "unknown python");
    // mpi4py loads the one of its modules whose MPI is here.
    for (const auto& [module, answer] :
         {std::pair("openmpi/4.1.6", "yes"), std::pair("mpich/4.2", "yes"), std::pair("gcc/12", "no mpi")}) {
        Node with_modules = h100();
        with_modules.modules = std::vector<std::string>{module};
        CAPTURE(module);
        CHECK(found(wheel_of(x86, R"({"needed":{"mpi":["libmpi.so.12","libmpi.so.40"]}})"), with_modules) ==
              answer);
    }
    // Of every Python: no one takes a wheel of another system, and whether this node has another version is unknown.
    every_python = h100();
    every_python.any_python = true;
    for (const char* wheel :
         {"ninja-1.11.1.4-py3-none-win_amd64.whl", "ninja-1.11.1.4-py3-none-macosx_10_9_universal2.whl",
          "a-1-py3-none-manylinux_1_5_x86_64.whl", "a-1-cp311-cp311-any.whl", "a-1-cp311-abi3-any.whl"}) {
        CAPTURE(wheel);
        CHECK(found(wheel_of(wheel), every_python) == "no tags");
    }
    CHECK(found(wheel_of("a-1-cp312-cp312-manylinux_2_17_x86_64.whl"), every_python) == "unknown python");
    CHECK(found(wheel_of("a-1-cp311-abi3-manylinux_2_17_x86_64.whl"), every_python) == "yes");
    CHECK(found(wheel_of("a-1-py3-none-any.whl"), every_python) == "yes");
    // pip's tags decide only if both the machine and the C library are known.
    Node partly = h100();
    partly.machine.clear();
    CHECK(found(wheel_of("torch-2.4.0-cp311-cp311-linux_aarch64.whl"), partly) == "unknown machine");
    partly = h100();
    partly.glibc.reset();
    CHECK(found(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl"), partly) == "unknown glibc");
    CHECK(found(wheel_of("a-1-cp311-cp311-musllinux_1_2_x86_64.whl"), partly) == "unknown libc");
    // A driver that is newer than the table may support a newer CUDA.
    Node new_driver = h100();
    new_driver.driver = Dotted::parse("999.1");
    const auto with_ptx =
        wheel_of("torch-2.9.0+cu139-cp311-cp311-linux_x86_64.whl", R"({"cuda_ptx":["compute_80"]})");
    CHECK(found(with_ptx, new_driver) == "unknown driver");
    new_driver.driver = Dotted::parse("590.44.01");
    CHECK(found(with_ptx, new_driver) == "no driver");
    // A login node: everything except the GPU is known.
    Node login = h100();
    login.gpus.reset();
    login.driver.reset();
    CHECK(found(wheel_of(x86, R"({"cuda_sm":["sm_70"]})"), login) == "unknown gpu");
    // A node without a GPU runs the CPU code of such a wheel.
    login.gpus = Gpus{};
    CHECK(found(wheel_of(x86, R"({"cuda_sm":["sm_70"]})"), login) == "yes");
}

TEST_CASE("a known-bad version reports reason and advice on the nodes where it fails") {
    Site site;
    site.known_bad = {
        {"torch", *wheel::SpecifierSet::parse("==1.10.*"), {}, "c10::Error", "use 1.9.1"},
        {"torch", *wheel::SpecifierSet::parse("<2.3"), {"sm_90"}, "", "H100 needs torch 2.3 or newer"}};
    const auto bad = judge(wheel_of("torch-1.10.2+cu113-cp311-cp311-linux_x86_64.whl"), h100(), site);
    CHECK(bad.code == "known_bad");
    CHECK(bad.why == "c10::Error");
    CHECK(bad.advice == "use 1.9.1");
    CHECK(judge(wheel_of("torch-2.2.0-cp311-cp311-linux_x86_64.whl"), h100(), site).advice ==
          "H100 needs torch 2.3 or newer");
    Node a100 = h100();
    a100.gpus = Gpus{{"sm_80"}, {}};
    CHECK(found(wheel_of("torch-2.2.0-cp311-cp311-linux_x86_64.whl", "{}"), a100, site) == "yes");
    CHECK(found(wheel_of("torch-2.3.0-cp311-cp311-linux_x86_64.whl", "{}"), h100(), site) == "yes");
}

TEST_CASE("each failed check has advice") {
    Site site;
    site.python_module = "python/{version}";
    site.needed_modules = {"cudacore"};
    CHECK(judge(wheel_of("torch-2.4.0-cp312-cp312-linux_x86_64.whl"), h100(), site).advice ==
          "module load python/3.12");
    const auto mpi =
        judge(wheel_of(x86, R"({"needed":{"mpi":["libmpi_cray.so.12"]},"modules":["cray-mpich/8.1.27"]})"),
              h100(), site);
    CHECK(mpi.advice == "module load cray-mpich/8.1.27");
    const auto module = judge(wheel_of(x86, R"({"modules":["cudacore/12.2.2","gcc/12"]})"), h100(), site);
    CHECK(module.code == "module");
    CHECK(module.advice == "module load cudacore/12.2.2");
    CHECK(found(wheel_of(x86, R"({"modules":["cudacore/12.2.2"]})"), h100()) == "yes");
}
