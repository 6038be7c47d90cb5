#include "indexer/avail_wheels/node/node_probe.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "tests/accelerator/amd_smi_output.hpp"
#include "tests/indexer/avail_wheels/node/fake_node.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

constexpr const char* smi =
    "NVIDIA GH200 480GB, 9.0, 550.54.15\n"
    "NVIDIA GH200 480GB, 9.0, 550.54.15\n";

// Output in rocminfo's format: agents, each with its name and the ISAs that it runs.
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

TEST_CASE("on an empty node, properties are unknown, not missing") {
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

TEST_CASE("a GH200 node is detected from nvidia-smi, libc and Python") {
    FakeNode fake;
    fake.machine = "aarch64";
    fake.install("nvidia-smi", smi);
    fake.install("python3", PythonSays{.version = "3.12.1", .libc = ""}.text());
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

TEST_CASE("without nvidia-smi, the driver's own files give the same result") {
    FakeNode fake;
    fake.write("proc/driver/nvidia/version",
               "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023\n"
               "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
    fake.write("proc/driver/nvidia/gpus/0000:07:00.0/information",
               "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 318\nGPU UUID: \t GPU-aa\n");
    const Node node = fake.probe();
    CHECK(node.driver->text() == "535.129.3");
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_80"});
}

TEST_CASE("an AMD node is detected from the kernel's topology, otherwise from rocminfo") {
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

TEST_CASE("amd-smi detects GPUs if neither the kernel nor rocminfo does") {
    FakeNode fake;
    fake.install("amd-smi", std::string("{\"gpu_data\": ") + amd_smi_gpus + "}\n");
    const Node node = fake.probe();
    REQUIRE(node.gpus);
    CHECK(node.gpus->archs == std::vector<std::string>{"gfx90a", "gfx1101"});
    CHECK(node.gpus->names == std::vector<std::string>{"AMD Instinct MI210", "AMD Radeon RX 7800 XT"});
    CHECK(fake.asked == std::vector<std::string>{"amd-smi static --asic --json"});

    fake.started.clear();
    fake.install("rocminfo", "ROCk module is NOT loaded, possibly no GPU devices\n");
    CHECK(fake.probe().gpus->archs == std::vector<std::string>{"gfx90a", "gfx1101"});
    CHECK(fake.started == std::vector<std::string>{"rocminfo", "amd-smi"});

    fake.started.clear();
    fake.install("rocminfo", rocminfo);  // has more details
    CHECK(fake.probe().gpus->archs == std::vector<std::string>{"gfx90a:sramecc+:xnack-"});
    CHECK(fake.started == std::vector<std::string>{"rocminfo"});
}

TEST_CASE("the second call starts no process; another Python, job or day probes again") {
    FakeNode fake;
    fake.install("nvidia-smi", smi);
    fake.install("python3", PythonSays{.version = "3.12.1", .libc = ""}.text());
    CHECK(fake.known().gpus);
    CHECK(fake.started == std::vector<std::string>{"nvidia-smi", "python3"});
    fake.started.clear();
    fake.environment["LOADEDMODULES"] = "cuda/12.3.2";
    const Node again = fake.known();
    CHECK(fake.started.empty());
    CHECK(again.gpus->archs == std::vector<std::string>{"sm_90"});
    CHECK(again.pythons[0].full == "3.12.1");
    CHECK(again.modules->size() == 1);  // never from the cache

    for (const char* job : {"SLURM_JOB_ID", "PBS_JOBID", "FLUX_JOB_ID"}) {
        fake.environment[job] = "7";
        (void)fake.known();
        CHECK_FALSE(fake.started.empty());
        fake.started.clear();
    }
    fake.clock.sleep_ms(25LL * 3600 * 1000);
    (void)fake.known();
    CHECK_FALSE(fake.started.empty());
    fake.started.clear();
    fake.environment["VIRTUAL_ENV"] = (fake.folder.path() / "venv").native();
    fake.environment["PATH"] = (fake.folder.path() / "venv/bin").native() + ":" + fake.environment["PATH"];
    fs::create_directories(fake.folder.path() / "venv" / "bin");
    REQUIRE(base::replace_file(fake.folder.path() / "venv" / "bin" / "python", "#!", 0755));
    fake.answers["python"] = PythonSays{.version = "3.13.0", .free_threaded = true, .libc = ""}.text();
    const Node other = fake.known();
    CHECK(other.pythons.at(0).free_threaded);
    CHECK(other.python_program.ends_with("venv/bin/python"));
}

TEST_CASE("a shim is asked again when the version that it starts changes") {
    FakeNode fake;
    const fs::path pyenv = fake.folder.path() / "pyenv";
    fs::create_directories(pyenv / "shims");
    REQUIRE(base::replace_file(pyenv / "shims/python3", "#!/usr/bin/env bash\n", 0755));
    REQUIRE(base::replace_file(pyenv / "version", "3.12.1\n"));
    fake.environment["PATH"] = (pyenv / "shims").native();
    fake.answers["python3"] = PythonSays{.version = "3.12.1"}.text();
    CHECK(fake.known().pythons.at(0).full == "3.12.1");
    fake.answers["python3"] = PythonSays{.version = "3.13.0"}.text();
    CHECK(fake.known().pythons.at(0).full == "3.12.1");  // from the cache
    REQUIRE(base::replace_file(pyenv / "version", "3.13.0\n"));
    CHECK(fake.known().pythons.at(0).full == "3.13.0");
}

TEST_CASE("a cache that cannot be written only costs time") {
    FakeNode fake;
    fake.install("python3", PythonSays{.version = "3.12.1", .libc = ""}.text());
    fake.environment["XDG_CACHE_HOME"] = "/proc/nowhere";
    CHECK(fake.known().pythons.size() == 1);
    fake.environment.erase("XDG_CACHE_HOME");
    CHECK(cache_folder(fake.environment).empty());
    CHECK(cache_folder({{"HOME", "/home/anna"}}) == "/home/anna/.cache/wheelyard");
    CHECK(cache_folder({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}) == "/h/.cache/wheelyard");
}

TEST_CASE("the glibc is that of the Python that was asked, not the system's") {
    FakeNode fake;
    fake.write("lib64/libc.so.6", "GNU C Library stable release version 2.17.\n");
    fake.install("python3", PythonSays{.version = "3.11.5", .libc = "glibc 2.39"}.text());
    CHECK(fake.probe().glibc->text() == "2.39");
    CHECK(fake.known().glibc->text() == "2.39");
    fake.install("python3", "broken\n");
    CHECK(fake.probe().glibc->text() == "2.17");
}

TEST_CASE("a Python on musl has musl's version and no glibc") {
    FakeNode fake;
    CHECK_FALSE(is_musl_host(fake.host()));
    fake.write("lib/ld-musl-x86_64.so.1", "loader");
    fake.loader_says = "musl libc (x86_64)\nVersion 1.2.3\nDynamic Program Loader\n";
    fake.install("python3", PythonSays{.version = "3.11.5", .libc = "none"}.text());
    const Node node = fake.probe();
    CHECK_FALSE(node.glibc);
    REQUIRE(node.musl);
    CHECK(node.musl->text() == "1.2.3");
    CHECK(node_from_json(node_to_json(node)).musl->text() == "1.2.3");
    CHECK(is_musl_host(fake.host()));
    // Debian's package musl brings the loader, too.
    fake.write("lib/x86_64-linux-gnu/libc.so.6", "GNU C Library stable release version 2.36.\n");
    fake.install("python3", PythonSays{.version = "3.11.5"}.text());
    CHECK_FALSE(fake.probe().musl);
    CHECK_FALSE(is_musl_host(fake.host()));
}

TEST_CASE("PyPy and a free-threaded Python are what they are, also from the cache") {
    FakeNode fake;
    fake.install("python3", PythonSays{.name = "pypy", .version = "3.10.14"}.text());
    for (const Node& node : {fake.probe(), fake.known(), fake.known()}) {
        REQUIRE(node.pythons.size() == 1);
        CHECK(node.pythons[0].display() == "PyPy 3.10.14");
    }
    fake.install("python3", PythonSays{.version = "3.13.1", .free_threaded = true}.text());
    CHECK(fake.probe().pythons.at(0).display() == "3.13.1 (free-threaded)");
}

TEST_CASE("a broken or hanging Python is unknown and is asked again at the next call") {
    for (const std::string& answer :
         {std::string(), std::string("hangs"), PythonSays{.name = "graalpy", .version = "3.11.7"}.text(),
          std::string("Traceback (most recent call last):\n")}) {
        CAPTURE(answer);
        FakeNode fake;
        fake.environment["EBVERSIONPYTHON"] = "3.12.1";
        fake.install("python3", answer);
        CHECK(fake.known().pythons.empty());
        fake.install("python3", PythonSays{.version = "3.12.1"}.text());
        CHECK(fake.known().pythons.size() == 1);
    }
}

TEST_CASE("the ABI of a PyPy and a debug build come from the interpreter") {
    FakeNode fake;
    fake.install("python3", PythonSays{.name = "pypy",
                                       .version = "3.11.13",
                                       .soabi = "pypy311-pp80-x86_64-linux-gnu",
                                       .executable = "/opt/pypy/bin/pypy3"}
                                .text());
    const Node pypy = fake.known();
    CHECK(pypy.pythons.at(0).pypy_abi == "pp80");
    CHECK(pypy.interpreter == "/opt/pypy/bin/pypy3");
    CHECK(fake.known().pythons == pypy.pythons);  // from the cache
    fake.install("python3", PythonSays{.version = "3.11.2",
                                       .soabi = "cpython-311d-x86_64-linux-gnu",
                                       .debug = true,
                                       .executable = "/usr/bin/python3"}
                                .text());
    CHECK(fake.probe().pythons.at(0).debug);
    CHECK(fake.probe().pythons.at(0).display() == "3.11.2 (debug build)");
}

TEST_CASE("a PyPy is asked once which C functions it has, and no other Python is") {
    FakeNode fake;
    PythonSays says{.name = "pypy",
                    .version = "3.11.13",
                    .soabi = "pypy311-pp73-x86_64-linux-gnu",
                    .executable = "/opt/bin/pypy3.11",
                    .folders = {"/opt/lib"}};
    fake.install("python3", says.text());
    fake.answers["pypy3.11"] = "10\n";
    Node node = fake.known();
    fake.started.clear();
    ask_functions(fake.host(), {"PyPyList_New", "PyPyModule_FromDefAndSpec2"}, node);
    CHECK(node.found_functions == std::map<std::string, bool, std::less<>>{
                                      {"PyPyList_New", true}, {"PyPyModule_FromDefAndSpec2", false}});
    ask_functions(fake.host(), {"PyPyList_New"}, node);
    CHECK(fake.started == std::vector<std::string>{"pypy3.11"});
    ask_functions(fake.host(), {"PyPyList_New", "a", "b", "c"}, node);  // an answer of another length is none
    CHECK_FALSE(node.found_functions.contains("a"));
    says.name = "cpython";
    fake.install("python3", says.text());
    Node other = fake.probe();
    ask_functions(fake.host(), {"PyPyList_New", "PyPyModule_FromDefAndSpec2"}, other);
    CHECK(other.found_functions.empty());
}

TEST_CASE(
    "modules are looked for where the interpreter itself does, in the user's folder unless it is left out") {
    const base::TempDir folder = *base::TempDir::make("wheelyard-node-test");
    const fs::path env = folder.path() / "env";
    fs::create_directories(env / "bin");
    fs::create_symlink("/usr/bin/python3", env / "bin" / "python3");
    struct Row {
        const char* settings;  // nullptr: no environment is active
        const char* variable;
        bool has_user_folder;
    };
    const Row rows[] = {{nullptr, "", true},
                        {nullptr, "1", false},
                        {"include-system-site-packages = true\n", "", true},
                        {"include-system-site-packages = false\n", "", false}};
    for (const auto& [settings, variable, has_user_folder] : rows) {
        CAPTURE(settings == nullptr ? "" : settings);
        EnvironmentMap environment{{"PATH", "/usr/bin:/bin"},
                                   {"HOME", folder.path().native()},
                                   {"XDG_CACHE_HOME", "relative"},
                                   {"PYTHONNOUSERSITE", variable}};
        if (settings != nullptr) {
            environment["PATH"] = (env / "bin").native() + ":/usr/bin:/bin";
            environment["VIRTUAL_ENV"] = env.native();
            REQUIRE(base::replace_file(env / "pyvenv.cfg", std::string("home = /usr/bin\n") + settings));
        }
        const HostProbe probe{"/", environment, "node1", "x86_64", base::run_command};
        const std::string name = "python3." + std::to_string(probe_node(probe).pythons.at(0).minor);
        const fs::path user = folder.path() / ".local/lib" / name / "site-packages";
        const fs::path linked = folder.path() / "linked";
        for (const fs::path& made : {user, linked, env / "lib" / name / "site-packages"})
            fs::create_directories(made);
        REQUIRE(
            base::replace_file(env / "lib" / name / "site-packages" / "x.pth", "import os; os._exit(3)\n"));
        base::Command command;
        command.environment = environment;
        REQUIRE(base::replace_file(user / "x.pth", linked.native() + "\n"));
        const Node node = probe_node(probe);
        fs::remove(env / "lib" / name / "site-packages" / "x.pth");
        command.argv = {node.python_program, "-c", "import sys; print('\\n'.join(sys.path[1:]))"};
        const auto real = base::run_command(command);
        REQUIRE(real);
        std::vector<std::string> expected;
        for (const auto line : base::split_lines(base::trim(real->out))) {
            if (fs::exists(line)) expected.emplace_back(line);
        }
        std::vector<std::string> found = node.module_folders;
        std::erase_if(found, [](const std::string& one) { return !fs::exists(one); });
        CHECK(found == expected);
        for (const fs::path& of_user : {user, linked})
            CHECK((std::count(found.begin(), found.end(), of_user.native()) == 1) == has_user_folder);
    }
}

TEST_CASE("a Python that does not answer has a reason") {
    FakeNode fake;
    fake.install("python3", "hangs");
    CHECK(fake.probe().python_fault == "does not answer within 10 s");
    fake.install("python3", "hello\n");
    CHECK(fake.probe().python_fault == "does not answer as a Python does");
    fake.install("python3", PythonSays{.name = "jython", .version = "3.11.2", .libc = ""}.text());
    CHECK(fake.probe().python_fault == "is neither CPython nor PyPy");
}
