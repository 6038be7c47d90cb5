// Compiled code that keeps what the tags promise, the facts it proves, and the policy for search paths.
#include "lib/inspect/tag_truth.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

// Real shapes near the lies, which must pass without a finding.
std::vector<std::function<Wheel()>> honest_elf_wheels() {
    const ElfImage x86_64;
    const ElfImage glibc_2_34 = {
        .versions = {{"libc.so.6", {"GLIBC_2.34", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR"}}}};
    const std::string cuda_code = test_support::write_fatbin({{2, 90}});
    const std::string hip_code = test_support::write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--gfx90a"});
    return {
        with_elf(linux_311, x86_64),
        with_elf(linux_311, glibc_2_34),
        with_elf("cp311-cp311-linux_aarch64", {.machine = 183}),
        with_elf("cp311-cp311-linux_armv7l", {.machine = 40, .bits = 32, .flags = 0x5000400}),
        with_elf("cp311-cp311-manylinux_2_34_x86_64", glibc_2_34),
        with_elf("cp311-cp311-musllinux_1_2_x86_64", {.needed = {"libc.musl-x86_64.so.1"}}),
        with_elf(linux_311, x86_64, "six/_six.cpython-311-x86_64-linux-gnu.so"),
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

TEST_CASE("compiled code that keeps its tags' promise has no finding") {
    for (const auto& build : honest_elf_wheels()) {
        const Wheel wheel = build();
        CAPTURE(wheel.filename);
        for (const auto& verdict : checked(wheel).verdicts)
            CHECK_MESSAGE(false, verdict.text());
    }
}

TEST_CASE("facts name machines, floors of what is not inside, libraries from outside and GPUs") {
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

TEST_CASE("a prefix that the policy names may be searched, its neighbours and its parents may not") {
    inspect::InspectOptions options;
    options.policy.search_path_prefixes = {"/cvmfs/soft.example/"};
    const auto findings = [&](std::string path) {
        return checked(with_elf(linux_311, {.runpath = std::move(path)})(), options).verdicts.size();
    };
    CHECK(findings("/cvmfs/soft.example/cuda/lib64") == 0);
    CHECK(findings("/cvmfs/soft.example") == 0);
    CHECK(findings("/cvmfs/soft.example.org/lib") == 1);
    CHECK(findings("/cvmfs/soft.example/../../tmp") == 1);
    CHECK(findings("/cvmfs") == 1);
}
