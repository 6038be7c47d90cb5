#include "indexer/avail_wheels/node_probe.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

namespace fs = std::filesystem;

// A root folder, programs on PATH that only count, and their answers.
struct FakeNode {
    base::TempDir folder = *base::TempDir::make("wheelyard-node-test");
    EnvironmentMap environment{{"PATH", (folder.path() / "bin").native()},
                               {"XDG_CACHE_HOME", (folder.path() / "cache").native()}};
    std::map<std::string, std::string> answers;  // by the program's name
    std::vector<std::string> started;
    base::ManualClock clock{1'000'000'000};
    std::string machine = "x86_64";

    void write(const fs::path& path, const std::string& text) const {
        fs::create_directories((folder.path() / "root" / path).parent_path());
        REQUIRE(base::replace_file(folder.path() / "root" / path, text));
    }
    void install(const std::string& name, const std::string& answer) {
        fs::create_directories(folder.path() / "bin");
        REQUIRE(base::replace_file(folder.path() / "bin" / name, "#!", 0755));
        answers[name] = answer;
    }
    Ground ground() {
        return {folder.path() / "root", environment, "gh001", machine, [this](const base::Command& command) {
                    const auto name = fs::path(command.argv[0]).filename().string();
                    started.push_back(name);
                    base::Finished finished;
                    finished.out = answers[name];
                    return base::Result<base::Finished>(finished);
                }};
    }
    Node probe() { return probe_node(ground()); }
    Node known() { return known_node(ground(), clock); }
};

constexpr const char* smi =
    "NVIDIA GH200 480GB, 9.0, 550.54.15\n"
    "NVIDIA GH200 480GB, 9.0, 550.54.15\n";

// As rocminfo prints it: agents, each with its name and the ISAs that it runs.
constexpr const char* rocminfo = R"(ROCk module is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.1
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC 7A53 64-Core Processor
  Marketing Name:          AMD EPYC 7A53 64-Core Processor
  Vendor Name:             CPU
*******
Agent 5
*******
  Name:                    gfx90a
  Uuid:                    GPU-3f2b9e1d0c8a7b65
  Marketing Name:          AMD Instinct MI250X
  Vendor Name:             AMD
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-
      Machine Models:          HSA_MACHINE_MODEL_LARGE
    ISA 2
      Name:                    amdgcn-amd-amdhsa--gfx9-generic:sramecc+:xnack-
*** Done ***
)";

}  // namespace

TEST_CASE("an empty node is unknown, not without") {
    FakeNode fake;
    const Node node = fake.probe();
    CHECK(node.machine == "x86_64");
    CHECK_FALSE(node.glibc);
    CHECK(node.cpu == "");
    CHECK_FALSE(node.gpus);
    CHECK_FALSE(node.driver);
    CHECK(node.pythons.empty());
    CHECK_FALSE(node.modules);
    CHECK(fake.started.empty());
}

TEST_CASE("a GH200 node is known from nvidia-smi, its libc and its Python") {
    FakeNode fake;
    fake.machine = "aarch64";
    fake.install("nvidia-smi", smi);
    fake.install("python3", "cpython 3.12.1 0\n");
    fake.write("lib/aarch64-linux-gnu/libc.so.6",
               std::string("\x7F") +
                   "ELF GNU C Library (Debian GLIBC 2.36-9) stable release version 2.36.\nCopyright");
    fake.environment["LOADEDMODULES"] = "gcc/12.2:cuda/12.3.2";
    const Node node = fake.probe();
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_90"});
    CHECK(node.gpus->names == std::vector<std::string>{"NVIDIA GH200 480GB"});
    CHECK(node.driver->text() == "550.54.15");
    CHECK(node.glibc->text() == "2.36");
    REQUIRE(node.pythons.size() == 1);
    CHECK(node.pythons[0].full == "3.12.1");
    CHECK(*node.modules == std::vector<std::string>{"gcc/12.2", "cuda/12.3.2"});
}

TEST_CASE("without nvidia-smi the driver's own files tell the same") {
    FakeNode fake;
    fake.write("proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
               "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    fake.write("proc/driver/nvidia/gpus/0000:07:00.0/information",
               "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 318\nGPU UUID: \t GPU-aa\n");
    const Node node = fake.probe();
    CHECK(node.driver->text() == "535.129.3");
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_80"});
    // The open kernel modules name themselves otherwise.
    CHECK(driver_of_proc("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.26.01  Release Build")
              ->text() == "570.26.1");
    CHECK_FALSE(driver_of_proc("hello 1.2"));
}

TEST_CASE("an old nvidia-smi that knows no compute_cap leaves the model") {
    Node node;
    read_nvidia_smi("Tesla V100-SXM2-32GB, [N/A], 470.57.02\n", node);
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_70"});
    Node broken;
    read_nvidia_smi("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
                    broken);
    CHECK_FALSE(broken.gpus);
    CHECK_FALSE(broken.driver);
}

TEST_CASE("an AMD node is known from the kernel's topology, else from rocminfo") {
    FakeNode fake;
    fake.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 64\ngfx_target_version 0\n");
    fake.write("sys/class/kfd/kfd/topology/nodes/4/properties", "simd_count 440\ngfx_target_version 90010\n");
    CHECK(fake.probe().gpus->archs == std::vector<std::string>{"gfx90a"});

    FakeNode other;
    other.install("rocminfo", rocminfo);
    const Node node = other.probe();
    CHECK(node.gpus->archs == std::vector<std::string>{"gfx90a:sramecc+:xnack-"});
    CHECK(node.gpus->names == std::vector<std::string>{"AMD Instinct MI250X"});
}

TEST_CASE("the second call starts nothing, and another Python, job or day asks again") {
    FakeNode fake;
    fake.install("nvidia-smi", smi);
    fake.install("python3", "cpython 3.12.1 0\n");
    CHECK(fake.known().gpus);
    CHECK(fake.started == std::vector<std::string>{"nvidia-smi", "python3"});
    fake.started.clear();
    fake.environment["LOADEDMODULES"] = "cuda/12.3.2";
    const Node again = fake.known();
    CHECK(fake.started.empty());
    CHECK(again.gpus->archs == std::vector<std::string>{"sm_90"});
    CHECK(again.pythons[0].full == "3.12.1");
    CHECK(again.modules->size() == 1);  // never from the cache

    fake.environment["SLURM_JOB_ID"] = "7";
    (void)fake.known();
    CHECK_FALSE(fake.started.empty());
    fake.started.clear();
    fake.clock.sleep_ms(25LL * 3600 * 1000);
    (void)fake.known();
    CHECK_FALSE(fake.started.empty());
    fake.started.clear();
    fake.environment["VIRTUAL_ENV"] = (fake.folder.path() / "venv").native();
    fs::create_directories(fake.folder.path() / "venv" / "bin");
    REQUIRE(base::replace_file(fake.folder.path() / "venv" / "bin" / "python", "#!", 0755));
    fake.answers["python"] = "cpython 3.13.0 1\n";
    const Node other = fake.known();
    CHECK(other.pythons.at(0).free_threaded);
    CHECK(other.python_program.ends_with("venv/bin/python"));
}

TEST_CASE("a cache that cannot be kept costs nothing but time") {
    FakeNode fake;
    fake.install("python3", "cpython 3.12.1 0\n");
    fake.environment["XDG_CACHE_HOME"] = "/proc/nowhere";
    CHECK(fake.known().pythons.size() == 1);
    fake.environment.erase("XDG_CACHE_HOME");
    CHECK(cache_folder(fake.environment).empty());
    CHECK(cache_folder({{"HOME", "/home/anna"}}) == "/home/anna/.cache/wheelyard");
    CHECK(cache_folder({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}) == "/h/.cache/wheelyard");
}
