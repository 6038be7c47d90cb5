// Compiled code that matches its tags, its facts, and the policy for search paths.
#include "lib/inspect/truth/tag_truth.hpp"

#include <doctest/doctest.h>

#include <set>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

// Unusual but valid wheels, which must have no finding.
std::vector<std::function<Wheel()>> valid_elf_wheels() {
    const ElfImage x86_64;
    const ElfImage glibc_2_34 = {.versions = {{"libc.so.6", {"GLIBC_2.34", "GLIBC_PRIVATE"}}}};
    const ElfImage packed_relocations = {.versions = {{"libc.so.6", {"GLIBC_2.17", "GLIBC_ABI_DT_RELR"}}}};
    const std::string cuda_code = test_support::write_fatbin({{2, 90}});
    const std::string hip_code = test_support::write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a"});
    return {
        with_elf(linux_311, x86_64),
        with_elf(linux_311, glibc_2_34),
        with_elf("cp311-cp311-linux_aarch64", {.machine = 183}),
        with_elf("cp311-cp311-linux_armv7l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv8l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv6l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-linux_armv6l", {.machine = 40, .bits = 32, .flags = 0x5000200}),
        with_elf("cp311-cp311-manylinux_2_34_x86_64", glibc_2_34),
        with_elf("cp311-cp311-manylinux_2_36_x86_64", packed_relocations),
        with_elf("cp311-cp311-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}}),
        with_elf(linux_311, x86_64, "six/_six.cpython-311-x86_64-linux-gnu.so"),
        with_elf("cp311-cp311-manylinux_2_28_x86_64",
                 {.needed = {"libc.so.6", "libstdc++.so.6", "libcudart.so.12"},
                  .versions = {{"libstdc++.so.6", {"GLIBCXX_3.4.24"}}, {"libgcc_s.so.1", {"GCC_7.0.0"}}}}),
        with_elf("cp311-cp311-manylinux_2_17_x86_64",
                 {.needed = {"libinner.so.1"}, .versions = {{"libinner.so.1", {"GLIBCXX_3.4.99"}}}},
                 "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six.libs/libinner.so.1", write_elf({})); }),
        with_elf("cp311-cp311-manylinux_2_99_x86_64", {.versions = {{"libstdc++.so.6", {"GLIBCXX_3.4.99"}}}}),
        with_elf("cp39-abi3-linux_x86_64",
                 {.imports = {"PyList_New"}, .weak_imports = {"PyErr_GetRaisedException"}},
                 "six/_six.abi3.so"),
        with_elf("cp312-abi3-linux_x86_64", {.imports = {"PyErr_GetRaisedException"}}, "six/_six.abi3.so"),
        with_elf("cp39-abi3-linux_x86_64", x86_64, "six/_six.cpython-39-x86_64-linux-gnu.so", "1.16.0",
                 [](WheelWriter& w) { w.add("six/_six.cpython-310-x86_64-linux-gnu.so", write_elf({})); }),
        with_elf("pp310-pypy310_pp73-linux_x86_64", x86_64, "six/_six.pypy310-pp73-x86_64-linux-gnu.so"),
        with_elf(
            "cp38-cp38-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}},
            "six/_six.cpython-38-x86_64-linux-gnu.so"),  // Pythons of that age use the suffix gnu on musl too
        with_elf(linux_311, {.rpath = "$ORIGIN/../.."}, "six-1.16.0.data/data/lib/libsix.so"),
        with_elf(linux_311,
                 {.notes = test_support::write_property_note({{0xc0008002, 1}, {0xc0010002, 15}})}),
        with_elf(linux_311, {.imports = {"_ZN3c1021throwNullDataPtrErrorEv"}}, "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.metadata_line("Requires-Dist: torch==2.4.1+cu121"); }),
        with_elf(linux_311, {.imports = {"_ZN3c1021throwNullDataPtrErrorEv"}}, "six/_six.so", "1.16.0",
                 [](WheelWriter& w) { w.metadata_line("Requires-Dist: torch>=1.13"); }),
        with_elf("cp313-cp313t-linux_x86_64", x86_64, "six/_six.cpython-313t-x86_64-linux-gnu.so"),
        with_elf("cp38-abi3-linux_x86_64", x86_64, "six/_six.abi3.so"),
        with_elf("py3-none-linux_x86_64", x86_64, "six/_six.cpython-312-x86_64-linux-gnu.so"),
        with_elf(linux_311, {.rpath = "$ORIGIN/../six.libs:${ORIGIN}"}),
        with_elf(linux_311, {.machine = 190}, "six/kernel.cubin", "1.16.0",
                 [](WheelWriter& w) { w.add("six/_six.so", write_elf({})); }),
        with_elf(linux_311, {.sections = {{".nv_fatbin", cuda_code}}}, "six/_six.so", "1.16.0+cu126"),
        with_elf(linux_311, {.needed = {"libc10_cuda.so"}}, "six/_six.so", "1.16.0+cu126"),
        with_elf(linux_311, {.sections = {{".hip_fatbin", hip_code}}}, "six/_six.so", "1.16.0+rocm6.2"),
        with_elf(linux_311, x86_64, "six/_six.so", "1.16.0+custom.1"),
    };
}

}  // namespace

TEST_CASE("compiled code that matches its tags has no finding") {
    for (const auto& build : valid_elf_wheels()) {
        const Wheel wheel = build();
        CAPTURE(wheel.filename);
        for (const auto& verdict : checked(wheel).verdicts)
            CHECK_MESSAGE(false, verdict.text());
    }
}

TEST_CASE("facts list machines, symbol version floors, external libraries and GPUs") {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .add("six/_six.so",
             write_elf({.needed = {"libc.so.6", "libinner.so.1", "libcuda.so.1"},
                        .versions = {{"libc.so.6", {"GLIBC_2.9", "GLIBC_2.17", "GLIBC_2.2.5"}},
                                     {"libinner.so.1", {"GLIBCXX_3.4.99"}},
                                     {"libstdc++.so.6", {"GLIBCXX_3.4.21"}}},
                        .sections = {{".nv_fatbin", test_support::write_fatbin({{2, 90}, {1, 90}})}}}))
        .add("six.libs/libinner.so.1", write_elf({}));
    const auto inspection = checked(pack(wheel));
    const inspect::Facts& facts = inspection.facts;
    CHECK(facts.elf_files == 2);
    CHECK(facts.machines == std::vector<std::string>{"x86_64"});
    CHECK(facts.needed_external == std::vector<std::string>{"libc.so.6", "libcuda.so.1"});
    CHECK(facts.symbol_floors ==
          std::map<std::string, std::string>{{"GLIBC", "2.17"}, {"GLIBCXX", "3.4.21"}});
    CHECK(facts.cuda_sm == std::vector<std::string>{"sm_90"});
    CHECK(facts.cuda_ptx == std::vector<std::string>{"compute_90"});
    CHECK(facts.tags.size() == 1);
}

TEST_CASE("facts list the kind of each library and the evidence of symbols and notes") {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .metadata_line("Requires-Dist: torch==2.4.0 ; extra == 'gpu'")
        .metadata_line("Requires-Dist: torchvision")
        .add("six/_six.so",
             write_elf({.needed = {"libc.so.6", "libinner.so", "libmpi.so.40", "libtorch.so", "libodd.so.3"},
                        .runpath = "$ORIGIN:/sw/openmpi/4.1.5/lib",
                        .imports = {"PyList_New", "PyType_GetName", "_ZN3c1021throwNullDataPtrErrorEv",
                                    "_ZN3c105ErrorC2ENS_14SourceLocationESs"},
                        .notes = test_support::write_property_note({{0xc0000002, 1}, {0xc0010002, 7}})}))
        .add("six/libinner.so", write_elf({.sections = {{".debug_info", std::string(500, 'd')}},
                                           .notes = test_support::write_property_note({{0xc0000002, 3}})}));
    const auto facts = checked(pack(wheel)).facts;
    using Needed = std::map<std::string, std::vector<std::string>>;
    CHECK(facts.needed == Needed{{"inside", {"libinner.so"}},
                                 {"system", {"libc.so.6"}},
                                 {"mpi", {"libmpi.so.40"}},
                                 {"torch", {"libtorch.so"}},
                                 {"unknown", {"libodd.so.3"}}});
    CHECK(facts.libc == std::vector<std::string>{"glibc"});
    CHECK(facts.manylinux_fit == "linux_x86_64");
    CHECK(facts.search_paths == std::vector<std::string>{"/sw/openmpi/4.1.5/lib"});
    CHECK(facts.modules == std::vector<std::string>{"openmpi/4.1.5"});
    CHECK(facts.stable_abi_floor == "3.11");
    CHECK(facts.cxx11_abi == "false");
    CHECK(facts.isa_needed.empty());
    CHECK(facts.isa_used == "x86-64-v3");
    CHECK(facts.cpu_features == std::vector<std::string>{"ibt"});
    CHECK(facts.debug_bytes == 500);
    CHECK(facts.elf_bytes > 1000);
    CHECK(facts.torch_cxx11_abi == "false");
    CHECK(facts.torch_at_least == "2.4");
    CHECK(facts.torch_below.empty());
    CHECK(facts.torch_requires == std::vector<std::string>{"torch==2.4.0 ; extra == 'gpu'"});
}

TEST_CASE("facts of musl wheels have no manylinux tag") {
    const auto facts =
        checked(with_elf("cp311-cp311-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}})()).facts;
    CHECK(facts.libc == std::vector<std::string>{"musl"});
    CHECK(facts.manylinux_fit.empty());
}

TEST_CASE("search paths are allowed below a policy's prefix, but not in its siblings and parents") {
    inspect::InspectOptions options;
    options.policy.search_path_prefixes = {"/cvmfs/soft.example/"};
    const auto accepted = [&](std::string path) {
        return checked(with_elf(linux_311, {.runpath = std::move(path)})(), options).accepted();
    };
    CHECK(accepted("/cvmfs/soft.example/cuda/lib64"));
    CHECK(accepted("/cvmfs/soft.example"));
    CHECK_FALSE(accepted("/cvmfs/soft.example.org/lib"));
    CHECK_FALSE(accepted("/cvmfs/soft.example/../../tmp"));
    CHECK_FALSE(accepted("/cvmfs"));
    const auto inspection = checked(
        with_elf(linux_311, {.runpath = "/cvmfs/soft.example/core/cudacore/12.2.2/lib64"})(), options);
    REQUIRE(inspection.verdicts.size() == 1);
    CHECK(inspection.verdicts.front().code == "elf.needs_module");
    CHECK(inspection.verdicts.front().found.starts_with("cudacore/12.2.2 in "));
}

TEST_CASE("every rule applies to a file with flaws that the dynamic linker ignores") {
    struct Row {
        std::string_view code;
        std::string tags;
        ElfImage image;
        std::string path = "six/_six.so";
    };
    const std::vector<Row> rows = {
        {"tag.any_with_elf", "py3-none-any", {}},
        {"elf.machine_mismatch", "cp311-cp311-linux_aarch64", {}},
        {"elf.glibc_above_policy",
         "cp311-cp311-manylinux2014_x86_64",
         {.versions = {{"libc.so.6", {"GLIBC_2.34"}}}}},
        {"elf.search_path", linux_311, {.rpath = "/tmp"}},
        {"elf.python_mismatch", linux_311, {}, "six/_six.cpython-312-x86_64-linux-gnu.so"},
    };
    for (const Row& row : rows) {
        for (const bool in_sections : {true, false}) {
            CAPTURE(row.code);
            CAPTURE(in_sections);
            ElfImage image = row.image;
            image.exports = {"PyInit__six"};
            image.gnu_hash = false;
            image.sizeless_sections = in_sections;
            image.hashed_symbols = in_sections ? 0 : 0xffffffff;
            const auto inspection = checked(with_elf(row.tags, image, row.path)());
            std::set<std::string_view> codes;
            for (const auto& verdict : inspection.verdicts)
                codes.insert(verdict.code);
            CHECK(codes.count(row.code) == 1);
            CHECK(codes.count("elf.malformed") == 1);
            CHECK(inspection.refused());
        }
    }
}
