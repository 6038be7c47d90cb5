#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/accelerator/cuda.hpp"
#include "tests/indexer/avail_wheels/sample_wheels.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

// A Debian 12 node with an H100, a driver of CUDA 12.4 and Python 3.11.
Node h100() {
    Node node;
    node.machine = "x86_64";
    node.glibc = Dotted::parse("2.36");
    node.cpu = "x86-64-v4";
    node.gpus = Gpus{{"sm_90"}, {}};
    node.driver = Dotted::parse("550.54.15");
    node.pythons = {*parse_python("3.11.2")};
    node.modules = std::vector<std::string>{"gcc/12.2", "openmpi/4.1.6"};
    return node;
}

Candidate wheel_of(const std::string& filename, const std::string& facts = {}, const std::string& arch = {}) {
    auto candidate = make_candidate(filename, arch);
    candidate.facts = facts;
    return candidate;
}

std::string found(const Candidate& candidate, const Node& node, const Site& site = {}) {
    const Fit fit = judge(candidate, node, site);
    return std::string(runs_text(fit.runs)) + (fit.code.empty() ? "" : " " + fit.code);
}

constexpr const char* x86 = "torch-2.4.0-cp311-cp311-linux_x86_64.whl";

}  // namespace

TEST_CASE("a variant is judged by the properties that the node has, and is never a plain yes (PEP 825)") {
    const auto wheel = [](const std::string& properties, const std::string& label = "a") {
        return wheel_of("six-1.17.0-py3-none-any-" + label + ".whl",
                        R"({"variant":{"variants":{"a":)" + properties + "}}}");
    };
    const auto level = [](const std::string& values) { return R"({"x86_64":{"level":[)" + values + "]}}"; };
    const auto sm = [](const std::string& values) { return R"({"nvidia":{"sm_arch":[)" + values + "]}}"; };
    Node node = h100();
    node.cpu = "x86-64-v3";
    node.gpus = Gpus{{"sm_86"}, {}};
    struct Row {
        std::string properties;
        const char* answer;
        const char* why;
    };
    for (const Row& row :
         {Row{"{}", "unknown variant", "the null variant"},
          Row{level(R"("v1")"), "unknown variant", "level :: v1"},
          Row{level(R"("v3")"), "unknown variant", "uv takes it"},
          Row{level(R"("v4")"), "no variant", "x86_64 :: level :: v4, which this node does not have"},
          Row{level(R"("v3","v4")"), "unknown variant", "level :: v3 or x86_64 :: level :: v4; pip"},
          // The psABI has the levels v1 to v4; what others mean is not known.
          Row{level(R"("2")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v10")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v5")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v")"), "unknown variant", "whether this node has that is not known"},
          // CUDA's binary compatibility: within the major version, upwards.
          Row{sm(R"("86_real")"), "unknown variant", "uv takes it"},
          Row{sm(R"("80_real","90_real")"), "unknown variant", "uv takes it"},
          Row{sm(R"("90_real")"), "no variant", "nvidia :: sm_arch :: 90_real"},
          Row{sm(R"("75_virtual")"), "unknown variant", "uv takes it"},
          Row{R"({"nvidia":{"sm_arch":["86_real"]},"x86_64":{"level":["v4"]}})", "no variant", "level :: v4"},
          Row{R"({"amd":{"gfx_arch":["gfx90a"]}})", "unknown variant",
              "whether this node has that is not known"},
          Row{R"({"amd":{"gfx_arch":["gfx90a"]},"x86_64":{"level":["v4"]}})", "no variant", "level :: v4"}}) {
        CAPTURE(row.properties);
        CHECK(found(wheel(row.properties), node) == row.answer);
        CHECK(judge(wheel(row.properties), node, {}).why.find(row.why) != std::string::npos);
    }
    CHECK(found(wheel("{}", "b"), node) == "no variant");  // of another label
    node.gpus = Gpus{};
    CHECK(found(wheel(sm(R"("86_real")")), node) == "no variant");
    node.gpus.reset();
    CHECK(judge(wheel(sm(R"("86_real")")), node, {}).why.find("not known") != std::string::npos);
    node.cpu.clear();
    CHECK(judge(wheel(level(R"("v3")")), node, {}).why.find("not known") != std::string::npos);
    node.machine = "aarch64";
    CHECK(found(wheel(level(R"("v1")")), node) == "no variant");
}

TEST_CASE(
    "what a variant requires is judged by its label and by the properties that the node has (PEP 825)") {
    const auto answer = [](const std::string& marker, const std::string& filename) {
        Node node = h100();
        node.torch = InstalledTorch{.version = "2.8.0", .folder = "/env"};
        return found(
            wheel_of(
                filename,
                R"({"requires_dist":["torch<2 ; )" + marker +
                    R"("],"variant":{"variants":{"gpu":{"nvidia":{"sm_arch":["90_real","120_real"]}}}}})"),
            node);
    };
    const std::string plain = "a-1-py3-none-any.whl", labelled = "a-1-py3-none-any-gpu.whl";
    CHECK(answer("variant_label == 'gpu'", labelled) == "no torch");
    CHECK(answer("'nvidia' in variant_namespaces", labelled) == "no torch");
    CHECK(answer("'nvidia :: sm_arch :: 90_real' in variant_properties", labelled) == "no torch");
    // As uv: a value that the node lacks is no reason to install something.
    CHECK(answer("'nvidia :: sm_arch :: 120_real' in variant_properties", labelled) == "unknown variant");
    CHECK(answer("'amd' in variant_namespaces", labelled) == "unknown variant");
    CHECK(answer("variant_label == ''", labelled) == "unknown variant");
    CHECK(answer("variant_label == 'gpu' or 'nvidia' in variant_namespaces", plain) == "yes");
    CHECK(answer("variant_label == ''", plain) == "no torch");
}

// The values of nvidia-variant-provider: for a driver of CUDA 12.4 the lower bounds 12.4, …, 12.0, 12, 11.20, …, 11, and the
// upper ones, which are excluded, 15.20, …, 13.0, 13, 12.20, …, 12.5.
TEST_CASE("a bound of a variant is held against the CUDA of the driver, and both versions are named") {
    const auto wheel = [](const std::string& feature, const std::string& value) {
        return wheel_of("six-1.17.0-py3-none-any-a.whl", R"({"variant":{"variants":{"a":{"nvidia":{")" +
                                                             feature + R"(":[")" + value + R"("]}}}}})");
    };
    const std::string lower = "cuda_version_lower_bound", upper = "cuda_version_upper_bound";
    struct Row {
        std::string feature, value;
        const char* why;
    };
    const Row rows[] = {
        {lower, "12.4", "uv takes it"},
        {lower, "12", "uv takes it"},
        {lower, "11.8", "uv takes it"},
        {lower, "12.6",
         "nvidia :: cuda_version_lower_bound :: 12.6, which this node does not have: its "
         "driver is 550.54.15 (CUDA 12.4)"},
        {lower, "13", "which this node does not have"},
        {upper, "12.5", "uv takes it"},
        {upper, "13", "uv takes it"},
        {upper, "12.4",
         "nvidia :: cuda_version_upper_bound :: 12.4, which this node does not have: its "
         "driver is 550.54.15 (CUDA 12.4)"},
        {upper, "12", "which this node does not have"},
        {lower, "twelve", "whether this node has that is not known"},
    };
    for (const auto& [feature, value, why] : rows) {
        CAPTURE(feature);
        CAPTURE(value);
        const Fit fit = judge(wheel(feature, value), h100(), {});
        CHECK(fit.why.find(why) != std::string::npos);
        CHECK(fit.runs == (fit.why.find("does not have") == std::string::npos ? Runs::unknown : Runs::no));
    }
    Node node = h100();
    node.driver = Dotted::parse("999.1");  // which may support any newer CUDA
    CHECK(found(wheel(lower, "12.6"), node) == "unknown variant");
    CHECK(judge(wheel(lower, "99.0"), node, {}).why.find("not known") != std::string::npos);
    CHECK(judge(wheel(upper, "99.0"), node, {}).why.find("not known") != std::string::npos);
    CHECK(found(wheel(upper, "12.6"), node) == "no variant");
    node.driver.reset();
    CHECK(judge(wheel(lower, "12.4"), node, {}).why.find("not known") != std::string::npos);
    node.gpus = Gpus{{"gfx90a"}, {}};
    CHECK(found(wheel(lower, "12.4"), node) == "no variant");
    CHECK(found(wheel(upper, "13"), node) == "no variant");
    node.gpus.reset();
    CHECK(judge(wheel(lower, "12.4"), node, {}).why.find("not known") != std::string::npos);
}

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

TEST_CASE(
    "a wheel for Intel's GPUs is unknown where they are, because its code is not read, and no on other "
    "GPUs") {
    Node aurora = h100();
    aurora.gpus = Gpus{{"pvc"}, {}};
    aurora.driver.reset();
    constexpr const char* for_xpu = "torch-2.12.0+xpu-cp311-cp311-linux_x86_64.whl";
    constexpr const char* facts =
        R"({"machines":["x86_64"],"device_code_not_read":["xpu"],"needed":{"intel":["libsycl.so.8"]}})";
    for (const char* known : {"", facts}) {
        CAPTURE(known);
        CHECK(found(wheel_of(for_xpu, known), aurora) == "unknown gpu");
        CHECK(found(wheel_of(for_xpu, known), h100()) == "no gpu");
    }
    const Fit on_h100 = judge(wheel_of(for_xpu), h100(), {});
    CHECK(on_h100.why == "built for Intel (oneAPI), here is sm_90");
    CHECK(on_h100.advice == "look for a CUDA build");
    CHECK(judge(wheel_of(for_xpu), aurora, {}).why == "its oneAPI code is not read");
    // Other wheels there.
    CHECK(found(wheel_of(x86, R"({"cuda_sm":["sm_90"]})"), aurora) == "no gpu");
    CHECK(judge(wheel_of(x86, R"({"hip_gfx":["gfx90a"]})"), aurora, {}).advice == "look for a oneAPI build");
    CHECK(found(wheel_of(x86, "{}"), aurora) == "yes");
    // What only links SYCL also runs on processors.
    CHECK(found(wheel_of("dpctl-0.22.1-cp311-cp311-linux_x86_64.whl", facts), aurora) == "yes");
    CHECK(found(wheel_of("dpctl-0.22.1-cp311-cp311-linux_x86_64.whl", facts), h100()) == "yes");
    // As with CUDA's, where there is no GPU its other code runs.
    aurora.gpus = Gpus{};
    CHECK(found(wheel_of(for_xpu, "{}"), aurora) == "yes");
    aurora.gpus.reset();
    CHECK(found(wheel_of(for_xpu), aurora) == "unknown gpu");
}

TEST_CASE("Requires-Python is checked as in pip") {
    auto candidate = wheel_of("a-1-py3-none-any.whl");
    candidate.link.requires_python = ">=3.12";
    CHECK(found(candidate, h100()) == "no requires_python");
    candidate.link.requires_python = ">=3.11.2";
    CHECK(found(candidate, h100()) == "yes");
    candidate.link.requires_python = "nonsense";
    CHECK(found(candidate, h100()) == "yes");
}

TEST_CASE("a requirement with hashes is met by the bytes that it names") {
    auto candidate = wheel_of("a-1-py3-none-any.whl");
    const auto answer = [&](const std::vector<std::string>& sha256s) {
        const Fit fit = judge(candidate, h100(), {}, {.sha256s = sha256s});
        return std::string(runs_text(fit.runs)) + (fit.code.empty() ? "" : " " + fit.code);
    };
    CHECK(answer({"00ff"}) == "unknown hash");  // the source does not say what it has
    candidate.link.sha256 = "11aa";
    CHECK(answer({}) == "yes");
    CHECK(answer({"00ff", "11aa"}) == "yes");
    CHECK(answer({"00ff"}) == "no hash");
    candidate.link.requires_python = ">=3.12";
    CHECK(answer({"00ff"}) == "no requires_python");  // what no other bytes would change
}

TEST_CASE("an architecture folder of a wheelhouse requires its processor level") {
    Node node = h100();
    node.cpu = "x86-64-v2";
    CHECK(found(wheel_of(x86, {}, "avx2"), node) == "no cpu");
    CHECK(found(wheel_of(x86, "{}", "sse3"), node) == "yes");
    node.cpu = "";
    CHECK(found(wheel_of(x86, {}, "avx512"), node) == "unknown cpu");
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

TEST_CASE("needs are derived from labels, modules and libraries") {
    const auto cuda = [](const std::string& filename, const std::string& facts = {}) {
        const Needs needs = needs_of(wheel_of(filename, facts));
        for (const GpuNeeds& one : needs.gpus) {
            if (one.kind == &accelerator::cuda::kind) return one.toolkit;
        }
        return std::string();
    };
    CHECK(cuda("torch-2.4.0+cu126-cp311-cp311-linux_x86_64.whl") == "12.6");
    CHECK(cuda("torch-2.4.0+cu118.pt-cp311-cp311-linux_x86_64.whl") == "11.8");
    CHECK(cuda("jaxlib-0.4.30+cuda12.cudnn91-cp311-cp311-linux_x86_64.whl") == "12");
    CHECK(cuda("torch-2.4.0+cpu-cp311-cp311-linux_x86_64.whl") == "");
    CHECK(cuda("torch-2.4.0+computecanada-cp311-cp311-linux_x86_64.whl",
               R"({"modules":["gcc/12","cudacore/12.2.2"],"needed":{}})") == "12.2");
    CHECK(cuda(x86, R"({"needed":{"cuda":["libcublas.so.12","libcudart.so.11.0"]}})") == "11.0");
    CHECK(modules_of(wheel_of(x86, R"({"modules":["a/1","b/2"]})")) ==
          std::vector<std::string>{"a/1", "b/2"});
    CHECK(mpi_family("libmpi.so.40")->name == "Open MPI");
    CHECK(mpi_family("libmpi.so.12")->name == "MPICH");
    CHECK_FALSE(mpi_family("libfabric.so.1"));
}

TEST_CASE("PyPy takes its own wheels and pure ones; advice names the other kind of Python") {
    Node node = h100();
    node.pythons = {*parse_python("pypy3.10.14")};
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), node) == "unknown python");
    node.pythons[0].pypy_abi = "pp73";
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp80-manylinux_2_17_x86_64.whl"), node) == "no python");
    node.pythons[0].pypy_abi = "pp80";
    CHECK(found(wheel_of("a-1-pp310-pypy310_pp80-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-py3-none-any.whl"), node) == "yes");
    const auto fit = judge(wheel_of("a-1-cp310-cp310-manylinux_2_17_x86_64.whl"), node, {});
    CHECK(fit.why == "built for cp310, here is PyPy 3.10.14");
    CHECK(fit.advice == "use Python 3.10");
    CHECK(judge(wheel_of("a-1-pp310-pypy310_pp73-manylinux_2_17_x86_64.whl"), h100(), {}).advice ==
          "use PyPy 3.10");
}

TEST_CASE(
    "a C function that this PyPy lacks is a reason against a wheel, and one that nobody asked is unknown") {
    Node node = h100();
    node.pythons = {*parse_python("pypy3.11.11")};
    node.pythons[0].pypy_abi = "pp73";
    const auto with = [](const std::string& functions) {
        return wheel_of("a-1-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl",
                        R"({"machines":["x86_64"],"requires_dist":[],)" + functions + "}");
    };
    const auto wheel = with(R"("pypy_names":{"a._b":["PyPyList_New","PyPyModule_FromDefAndSpec2"]})");
    CHECK(judge(wheel, node, {}).why == "a._b uses PyPyList_New, and whether this PyPy has it is unknown");
    node.found_functions = {{"PyPyList_New", true}, {"PyPyModule_FromDefAndSpec2", false}};
    CHECK(found(wheel, node) == "no python");
    const std::string why = "a._b uses PyPyModule_FromDefAndSpec2, which this PyPy does not have";
    CHECK(judge(wheel, node, {}).why == why);
    const auto part = with(R"("pypy_later":{"a._b":["PyPyModule_FromDefAndSpec2"]})");
    CHECK(found(part, node) == "yes part");
    CHECK(judge(part, node, {}).why == "but " + why);
    node.found_functions["PyPyModule_FromDefAndSpec2"] = true;
    CHECK(found(wheel, node) == "yes");
    CHECK(found(part, node) == "yes");
    CHECK(functions_to_ask(needs_of(part)) == std::vector<std::string>{"PyPyModule_FromDefAndSpec2"});
}

TEST_CASE("a free-threaded Python takes no wheel of the other ABI, and advice says so") {
    Node node = h100();
    node.pythons = {*parse_python("3.13.1t")};
    CHECK(found(wheel_of("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl"), node) == "yes");
    const auto fit = judge(wheel_of("a-1-cp313-cp313-manylinux_2_17_x86_64.whl"), node, {});
    CHECK(fit.why == "built for cp313, here is Python 3.13.1 (free-threaded)");
    CHECK(fit.advice == "use Python 3.13, not a free-threaded one");
    node.pythons = {*parse_python("3.13.1")};
    CHECK(judge(wheel_of("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl"), node, {}).advice ==
          "use Python 3.13t, the free-threaded one");
}

TEST_CASE("a node on musl takes musllinux wheels up to its version, and none for glibc") {
    Node node = h100();
    node.glibc.reset();
    node.musl = Dotted::parse("1.2.3");
    CHECK(found(wheel_of("a-1-cp311-cp311-musllinux_1_2_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-cp311-cp311-musllinux_1_3_x86_64.whl"), node) == "no tags");
    CHECK(found(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl"), node) == "no libc");
    CHECK(found(wheel_of(x86, R"({"symbol_floors":{"GLIBC":"2.28"}})"), node) == "no libc");
    CHECK(found(wheel_of("six-1.17.0-py2.py3-none-any.whl"), node) == "yes");
}

TEST_CASE(
    "a debug build takes its own wheels and those of a release build; a release build takes no debug wheel") {
    Node node = h100();
    CHECK(found(wheel_of("a-1-cp311-cp311d-manylinux_2_17_x86_64.whl"), node) == "no python");
    node.pythons[0].debug = true;
    CHECK(found(wheel_of("a-1-cp311-cp311d-manylinux_2_17_x86_64.whl"), node) == "yes");
    CHECK(found(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl"), node) == "yes");
}

namespace {

std::string needing(const std::string& libraries, const std::string& floors, const std::string& rest = {}) {
    return R"({"machines":["x86_64"],"requires_dist":[)" + rest + R"(],"needed":{)" + libraries +
           R"(},"symbol_floors":{)" + floors + "}}";
}

// Debian 12's GCC libraries, as the loader of its Python finds them.
Node debian12() {
    Node node = h100();
    node.gpus = Gpus{};
    node.modules.reset();
    node.libraries["libstdc++.so.6"] = {
        "/lib/libstdc++.so.6", {{"GLIBCXX", *Dotted::parse("3.4.30")}, {"CXXABI", *Dotted::parse("1.3.13")}}};
    node.libraries["libgomp.so.1"] = {"/lib/libgomp.so.1", {{"GOMP", *Dotted::parse("5.1")}}};
    node.libraries["libgsl.so.27"] = {};
    node.libraries["libGL.so.1"] = {};
    node.libraries["libtbb.so.12"] = {};
    node.libraries["libtorch.so"] = {};
    node.libraries["libcudf.so"] = {};
    node.libraries["libmpi.so.40"] = {};
    node.libraries["libcuda.so.1"] = {};
    return node;
}

constexpr const char* cxx = R"("system":["libc.so.6","libstdc++.so.6"])";
constexpr const char* manylinux = "torch-2.4.0-cp311-cp311-manylinux_2_28_x86_64.whl";

}  // namespace

TEST_CASE("versions of GCC's libraries are compared with those that the Python's process loads") {
    const Node node = debian12();
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.30")")), node) == "yes");
    const Fit newer = judge(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.32")")), node, {});
    CHECK(newer.runs == Runs::no);
    CHECK(newer.why == "needs GLIBCXX_3.4.32, here is GLIBCXX_3.4.30 of /lib/libstdc++.so.6");
    CHECK(found(wheel_of(x86, needing(cxx, R"("CXXABI":"1.3.15")")), node) == "no library");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgomp.so.1"])", R"("GOMP":"5.1")")), node) == "yes");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgomp.so.1"])", R"("GOMP":"6.0")")), node) ==
          "no library");
    // What the loader was not asked, or did not answer.
    CHECK(found(wheel_of(x86, needing(cxx, R"("GCC":"14.0.0")")), node) == "unknown library");
    Node silent = node;
    silent.libraries.clear();
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.11")")), silent) == "unknown library");
    // The wheel's own search path comes first.
    Node with_module = node;
    with_module.libraries["/opt/gcc14/lib64/libstdc++.so.6"] = {"/opt/gcc14/lib64/libstdc++.so.6",
                                                                {{"GLIBCXX", *Dotted::parse("3.4.33")}}};
    const std::string with_path =
        R"({"requires_dist":[],"search_paths":["/opt/gcc14/lib64"],"needed":{"system":["libstdc++.so.6"]},)"
        R"("symbol_floors":{"GLIBCXX":"3.4.32"}})";
    CHECK(found(wheel_of(x86, with_path), node) == "no library");
    CHECK(found(wheel_of(x86, with_path), with_module) == "yes");
    CHECK(names_to_ask(needs_of(wheel_of(x86, with_path))) ==
          std::vector<std::string>{"libstdc++.so.6", "/opt/gcc14/lib64/libstdc++.so.6", "libstdc++.so.6",
                                   "/opt/gcc14/lib64/libstdc++.so.6"});
    // musl compares no versions.
    Node musl = node;
    musl.glibc.reset();
    musl.musl = Dotted::parse("1.2");
    CHECK(found(wheel_of(x86, needing(cxx, R"("GLIBCXX":"3.4.32")")), musl) == "yes");
}

TEST_CASE("of a node type the libraries are unknown, but those that its glibc promises") {
    Node type = h100();
    type.is_described = true;
    const auto wheel = [](const std::string& fit, const std::string& floor) {
        return wheel_of(
            x86, R"({"requires_dist":[],"needed":{"system":["libstdc++.so.6"]},"manylinux_fit":")" + fit +
                     R"(","symbol_floors":{"GLIBCXX":")" + floor + R"("}})");
    };
    CHECK(found(wheel("manylinux_2_28_x86_64", "3.4.24"), type) == "yes");
    CHECK(found(wheel("manylinux_2_39_x86_64", "3.4.32"), type) == "unknown library");
    CHECK(found(wheel("linux_x86_64", "3.4.24"), type) == "unknown library");
    CHECK(found(wheel_of(x86, needing(R"("unknown":["libgsl.so.27"])", "")), type) == "unknown library");
    // A folder of software that the cluster's nodes share.
    type.libraries["/sw/gsl/lib/libgsl.so.27"] = {"/sw/gsl/lib/libgsl.so.27"};
    const std::string shared =
        R"({"requires_dist":[],"search_paths":["/sw/gsl/lib"],"needed":{"unknown":["libgsl.so.27"]}})";
    CHECK(found(wheel_of(x86, shared), type) == "yes");
}

TEST_CASE("a needed library comes from the wheel, a project that it requires, or the node") {
    const Node node = debian12();
    const auto answer = [&](const char* filename, const std::string& libraries,
                            const std::string& required = {}) {
        return found(wheel_of(filename, needing(libraries, "", required)), node);
    };
    const Fit gsl = judge(wheel_of(x86, needing(R"("unknown":["libgsl.so.27"])", "")), node, {});
    CHECK(gsl.runs == Runs::no);
    CHECK(gsl.why == "needs libgsl.so.27, which is not here");
    // Another project is no reason to hope.
    CHECK(answer(x86, R"("unknown":["libgsl.so.27"])", R"("numpy>=1.23")") == "no library");
    CHECK(answer(x86, R"("unknown":["libcudf.so"])", R"("libcudf-cu12==25.8.*")") == "yes");
    CHECK(answer(x86, R"("torch":["libtorch.so"])", R"("torch==2.8")") == "yes");
    CHECK(answer(x86, R"("torch":["libtorch.so"])") == "unknown library");
    CHECK(answer(x86, R"("mpi":["libmpi.so.40"])", R"("mpi4py")") == "no library");
    CHECK(answer(x86, R"("mpi":["libmpi.so.40"])", R"("openmpi")") == "unknown mpi");
    CHECK(answer(manylinux, R"("system":["libGL.so.1"])") == "no library");
    // Who repaired this wheel left it out on purpose.
    CHECK(answer(manylinux, R"("intel":["libtbb.so.12"])") == "unknown library");
    // Without a GPU there is no driver, and the wheel may have other code.
    CHECK(answer(x86, R"("cuda":["libcuda.so.1"])") == "unknown library");
}

TEST_CASE(
    "a manylinux wheel whose import surely needs a library that nothing brings does not run without it") {
    Node node = debian12();
    node.libraries["libodbc.so.2"] = {};
    const auto answer = [&](const std::string& more) {
        const Fit fit =
            judge(wheel_of("a-1-cp311-cp311-manylinux_2_17_x86_64.whl",
                           R"({"machines":["x86_64"],"needed":{"unknown":["libodbc.so.2"]},)" + more + "}"),
                  node, {});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    const std::string surely = R"("needed_surely":{"libodbc.so.2":"a"})";
    const std::string no = "no needs libodbc.so.2, which is not here";
    const std::string unknown = "unknown needs libodbc.so.2, which is not here; it may do without";
    CHECK(answer(surely + R"(,"requires_dist":[])") == no);
    CHECK(answer(surely + R"(,"requires_dist":["b; extra == 'c'"])") == no);
    CHECK(answer(surely + R"(,"requires_dist":["b"])") == unknown);
    CHECK(answer(R"("requires_dist":[])") == unknown);
    CHECK(answer(surely + R"(,"requires_dist":[],"opens":[{"any":["libx.so.1"],"by":"a","maybe":true}])")
              .starts_with(unknown));
    node.libraries["libodbc.so.2"] = {.path = "/lib/libodbc.so.2"};
    CHECK(answer(surely + R"(,"requires_dist":[])") == "yes");
}

TEST_CASE("a library that is here and lacks one itself cannot be loaded") {
    Node node = debian12();
    node.libraries["libgsl.so.27"] = {.path = "/opt/libgsl.so.27", .lacks = "libgslcblas.so.0"};
    const auto judged = [&](const std::string& facts) { return judge(wheel_of(x86, facts), node, {}); };
    const std::string gsl = R"("unknown":["libgsl.so.27"])";
    const Fit fit = judged(needing(gsl, ""));
    CHECK(fit.runs == Runs::no);
    CHECK(fit.why == "needs libgsl.so.27, which needs libgslcblas.so.0, which is not here");
    // A project may have loaded it before, or the wheel's own search path may have it.
    CHECK(judged(needing(gsl, "", R"("libgslcblas")")).runs == Runs::unknown);
    CHECK(judged(R"({"requires_dist":[],"search_paths":["/sw/lib"],"needed":{)" + gsl + "}}").runs ==
          Runs::unknown);
    // A driver's, which the login node has not.
    node.libraries["libgsl.so.27"].lacks = "libcuda.so.1";
    CHECK(judged(needing(gsl, "")).runs == Runs::unknown);
}

TEST_CASE("a library that only a part of the wheel needs is no reason against it, and is named") {
    const auto answer = [&](const std::string& which,
                            const std::string& library = R"("system":["libGL.so.1"])",
                            const std::string& required = {}) {
        return judge(wheel_of(x86, R"({"requires_dist":[)" + required + R"(],)" + which + R"("needed":{)" +
                                       library + "}}"),
                     debian12(), {});
    };
    const Fit later = answer(R"("needed_later":{"libGL.so.1":"rdkit.Chem.Draw"},)");
    CHECK(later.runs == Runs::yes);
    CHECK(later.why == "but rdkit.Chem.Draw needs libGL.so.1, which is not here");
    CHECK(answer(R"("needed_later":{"libX11.so.6":"a.b"},)").runs == Runs::no);
    const Fit maybe = answer(R"("needed_maybe":{"libGL.so.1":"a.b"},)");
    CHECK(maybe.runs == Runs::unknown);
    CHECK(maybe.why == "its import may load a.b, which needs libGL.so.1, which is not here");
    CHECK(answer("").runs == Runs::no);  // a wheel of before
    CHECK(answer(R"("needed_later":{"libcudf.so":"a"},)", R"("unknown":["libcudf.so"])", R"("libcudf-cu12")")
              .why.empty());
    // What needs MPI is what such a wheel is for.
    CHECK(answer(R"("needed_later":{"libmpi.so.40":"mpi4py.MPI"},)", R"("mpi":["libmpi.so.40"])").runs !=
          Runs::yes);
}

TEST_CASE("a library that Python code opens must be here, or come with what the wheel requires") {
    Node node = debian12();
    node.libraries["-lmagic"] = node.libraries["libmagic.so.1"] = node.libraries["libcuda.so.1"] = {};
    node.libraries["-lz"] = {.path = "/lib/libz.so.1"};
    const auto answer = [&](const std::string& opens, const std::string& required = {}) {
        const Fit fit = judge(
            wheel_of("magic-1-py3-none-any.whl", R"({"requires_dist":[)" + required +
                                                     R"(],"opens":[{"by":"magic.loader",)" + opens + "}]}"),
            node, {});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    CHECK(answer(R"("any":["libmagic.so.1","-lmagic"])") ==
          "no magic.loader opens libmagic.so.1, which is not here");
    CHECK(answer(R"("any":["libmagic.so.1","-lz"])") == "yes");
    CHECK(answer(R"("any":["-lmagic"])", R"("libmagic")") == "yes");
    CHECK(answer(R"("any":["-lmagic"],"maybe":true)") ==
          "unknown its import may do without: magic.loader opens libmagic, which is not here");
    CHECK(answer(R"("any":[])") == "unknown magic.loader opens a library whose name it computes");
    CHECK(answer(R"("any":["-lnever_asked"])").starts_with("unknown"));
    CHECK(answer(R"("any":["libcuda.so.1"])").starts_with("unknown"));
    CHECK(names_to_ask(needs_of(
              wheel_of("a-1-py3-none-any.whl", R"({"opens":[{"any":["-lz","libz.so"],"by":"a"}]})"))) ==
          std::vector<std::string>{"-lz", "libz.so"});
}

TEST_CASE(
    "AVX code that is not chosen at run time leaves it open whether a wheel runs on an older processor") {
    Node node = debian12();
    const auto wheel =
        wheel_of(x86, R"({"requires_dist":[],"avx_code":"scann.scann_pybind","machines":["x86_64"]})");
    CHECK(found(wheel, node) == "yes");
    node.cpu = "x86-64-v3";
    CHECK(found(wheel, node) == "yes");
    for (const char* older : {"x86-64", "x86-64-v2"}) {
        node.cpu = older;
        CHECK(found(wheel, node) == "unknown cpu");
        CHECK(judge(wheel, node, {}).why ==
              "scann.scann_pybind has AVX code throughout, and this is " + std::string(older));
    }
    const auto newer =
        wheel_of(x86, R"({"requires_dist":[],"avx_code":"a.b","avx512_code":"a.c","machines":["x86_64"]})");
    CHECK(found(newer, h100()) == "yes");
    node.cpu = "x86-64-v3";
    CHECK(judge(newer, node, {}).why == "a.c has AVX-512 code throughout, and this is x86-64-v3");
    node.cpu.clear();
    CHECK(found(wheel, node) == "unknown cpu");
    CHECK(found(wheel_of(x86, R"({"requires_dist":[],"machines":["x86_64"]})"), node) == "yes");
}

TEST_CASE(
    "SVE code that nothing chooses leaves it open whether a wheel runs on an ARM processor without SVE") {
    Node node = debian12();
    REQUIRE(assume(node, "machine=aarch64").has_value());  // and not of the processor of this one
    const auto wheel = wheel_of("a-1-cp311-cp311-linux_aarch64.whl",
                                R"({"requires_dist":[],"sve_code":"a._k","machines":["aarch64"]})");
    CHECK(judge(wheel, node, {}).why ==
          "a._k has SVE code that nothing chooses, and this node's processor is unknown");
    for (const auto& [features, answer] :
         {std::pair("fp asimd crc32", "unknown cpu"), std::pair("fp asimd sve sve2", "yes"),
          std::pair("fp asimd svex", "unknown cpu")}) {
        node.cpu = arm_level(features);
        CHECK(found(wheel, node) == answer);
    }
    CHECK(arm_level("").empty());
    REQUIRE(assume(node, "cpu=armv8-a").has_value());
    CHECK(judge(wheel, node, {}).why == "a._k has SVE code that nothing chooses, and this is armv8-a");
    REQUIRE(assume(node, "cpu=armv8-a+sve").has_value());
    CHECK(found(wheel, node) == "yes");
    // A level of x86-64 is that of the files for x86-64.
    CHECK(found(wheel_of("a-1-py3-none-any.whl",
                         R"({"requires_dist":[],"isa_needed":"x86-64-v3","machines":["aarch64","x86_64"]})"),
                node) == "yes");
    CHECK(assume(node, "cpu=armv9").error().sentence.find("armv8-a+sve") != std::string::npos);
}

TEST_CASE("a standard module that the node's Python lacks is a reason, unless a project brings it") {
    const auto answer = [&](const std::string& name, const std::string& python,
                            const std::string& required = {},
                            const std::map<std::string, bool, std::less<>>& asked = {}) {
        Node node = debian12();
        node.pythons = {*parse_python(python)};
        node.found_modules = asked;
        const Fit fit =
            judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[)" + required +
                                                       R"(],"gone_names":{")" + name + R"(":"a.b"}})"),
                  node, {});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    CHECK(answer("cgi", "3.12") == "yes");
    CHECK(answer("cgi", "3.13") == "no a.b imports cgi, which Python 3.13 has no more");
    CHECK(answer("cgi", "3.13", R"("legacy-cgi; python_version >= '3.13'")") == "yes");
    CHECK(answer("cgi", "3.13", "", {{"cgi", true}}) == "yes");
    CHECK(answer("collections.Mapping", "3.9") == "yes");
    CHECK(answer("collections.Mapping", "3.10").starts_with("no"));
    CHECK(answer("types.UnionType", "3.9") ==
          "no a.b needs types.UnionType for X | None, which Python 3.9 does not have yet");
    CHECK(answer("types.UnionType", "3.10") == "yes");
    CHECK(answer("typing.override", "3.11") ==
          "no a.b needs typing.override, which Python 3.11 does not have yet");
    CHECK(answer("typing.override", "3.12") == "yes");
    CHECK(answer("tomllib", "3.10") == "no a.b needs tomllib, which Python 3.10 does not have yet");
    CHECK(answer("tomllib", "3.11") == "yes");
    CHECK(answer("graphlib", "3.8", R"("graphlib-backport; python_version < '3.9'")") == "yes");
    CHECK(answer("distutils.version", "3.11") == "yes");
    // Debian has most of distutils in a package of its own.
    CHECK(answer("distutils.util", "3.11", "", {{"distutils.util", false}}) ==
          "no a.b imports distutils.util, which this Python does not have");
    CHECK(answer("distutils.util", "3.12", R"("setuptools")") == "yes");
    CHECK(answer("audioop", "3.12", "", {{"audioop", false}}) == "yes");  // built in, or an extension module
    CHECK(answer("pkg_resources", "3.13").starts_with("unknown"));
    CHECK(answer("pkg_resources", "3.13", "", {{"pkg_resources", false}}).starts_with("no"));
    CHECK(answer("pkg_resources", "3.13", R"("setuptools<82")") == "yes");
    CHECK(answer("pkg_resources", "3.13", R"("setuptools")").starts_with("unknown"));
    CHECK(answer("tkinter", "3.13", "", {{"tkinter", false}}).starts_with("no"));
    CHECK(answer("not.in.the.table", "3.13") == "yes");  // of a newer program
    CHECK(answer("winreg", "3.13") == "no a.b imports winreg, which only Windows has");
    CHECK(answer("ctypes.windll.user32", "3.13") == "no a.b imports ctypes.windll, which only Windows has");
    const std::string undeclared = "unknown a.b imports botocore, which nothing that it requires brings";
    CHECK(answer("botocore", "3.13", "", {{"botocore", false}}) == undeclared);
    CHECK(answer("botocore", "3.13") == undeclared);
    CHECK(answer("botocore", "3.13", "", {{"botocore", true}}) == "yes");
}

TEST_CASE("what the source owns must satisfy Requires-Dist") {
    Node node = debian12();
    const std::vector<Candidate> torch{wheel_of("torch-2.6.0-cp311-cp311-linux_x86_64.whl"),
                                       wheel_of("torch-2.5.1-cp312-cp312-linux_x86_64.whl")};
    const OwnedWheels owned = [&](const std::string& project) {
        return project == "torch" ? &torch : nullptr;
    };
    const auto answer = [&](const std::string& required, const std::vector<std::string>& extras = {}) {
        return judge(
            wheel_of("torch_scatter-2.1.2-py3-none-any.whl", R"({"requires_dist":[")" + required + R"("]})"),
            node, {}, {.owned = owned, .extras = extras});
    };
    CHECK(answer("torch==2.6.*").runs == Runs::yes);
    CHECK(answer("torch==2.8.0").why == "requires torch==2.8.0, and here are torch 2.6.0, 2.5.1");
    CHECK(answer("torch==2.8.0").code == "requires_dist");
    CHECK(answer("torch==2.5.1").why == "requires torch==2.5.1, and here are torch 2.5.1 for cp312 alone");
    const std::vector<Candidate> tornado{wheel_of("tornado-6.6.1-cp39-abi3-win_amd64.whl"),
                                         wheel_of("tornado-6.6.1-cp39-abi3-manylinux2014_aarch64.whl")};
    const OwnedWheels owns_tornado = [&](const std::string& project) {
        return project == "tornado" ? &tornado : nullptr;
    };
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["tornado>=6.5.7"]})"), node, {},
                {.owned = owns_tornado})
              .why == "requires tornado>=6.5.7, and here are tornado 6.6.1 for win_amd64, aarch64 alone");
    CHECK(answer("torch==2.8.0; python_version < '3.9'").runs == Runs::yes);
    CHECK(answer("torch==2.8.0; extra == 'gpu'").runs == Runs::yes);
    CHECK(answer("torch==2.8.0; extra == 'gpu'", {"cpu", "gpu"}).why ==
          "requires torch==2.8.0, and here are torch 2.6.0, 2.5.1");
    CHECK(answer("torch==2.8.0; extra == 'gpu' and python_version < '3.9'", {"gpu"}).runs == Runs::yes);
    CHECK(answer("torch==2.8.0; python_version >= '3.9'", {"gpu"}).runs == Runs::no);
    CHECK(answer("numpy>=99").runs == Runs::yes);  // comes from elsewhere
    const std::vector<Candidate> none{wheel_of("cffi-1.0-cp311-cp311-linux_x86_64.whl")};
    const OwnedWheels cffi = [&](const std::string& project) { return project == "cffi" ? &none : nullptr; };
    const std::vector<Candidate> empty;
    const OwnedWheels whole = [&](const std::string& project) {
        return project == "cffi" ? &empty : nullptr;
    };
    const auto zmq = wheel_of("pyzmq-1-py3-none-any.whl", R"({"requires_dist":["cffi"]})");
    CHECK(judge(zmq, node, {}, {.owned = cffi}).runs == Runs::yes);
    CHECK(judge(zmq, node, {}, {.owned = whole}).runs == Runs::yes);
    CHECK(judge(zmq, node, {}, {.owned = whole}).why ==
          "but requires cffi, of which this index has no wheel");
    const OwnedWheels nothing = [&](const std::string&) { return &empty; };
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["b>=1 ; python_version > '3'","c"]})"),
                node, {}, {.owned = nothing})
              .why == "but requires b>=1, c, of which this index has no wheel");
    node.pythons = {*parse_python("pypy3.9.16")};
    CHECK(judge(zmq, node, {}, {.owned = cffi}).runs == Runs::yes);  // PyPy has it
    CHECK(judge(zmq, node, {}, {.owned = whole}).why.empty());
}

TEST_CASE("a required wheel that does not run leaves it open whether the wheel does, and is named") {
    const Node node = debian12();
    const std::string fails = R"({"requires_dist":[],"needed":{"unknown":["libodbc.so.2"]}})";
    Node asked = node;
    asked.libraries["libodbc.so.2"] = {};
    std::map<std::string, std::vector<Candidate>> there;
    const OwnedWheels owned = [&](const std::string& project) -> const std::vector<Candidate>* {
        const auto found = there.find(project);
        return found == there.end() ? nullptr : &found->second;
    };
    const RequiredFit required = [&](const Candidate& taken) {
        return judge(taken, asked, {}, {.owned = owned, .required = required});
    };
    const auto answer = [&](const std::string& text) {
        const Fit fit = judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[")" + text + R"("]})"),
                              asked, {}, {.owned = owned, .required = required});
        return std::string(runs_text(fit.runs)) + (fit.why.empty() ? "" : " " + fit.why);
    };
    const std::string newer = "pyodbc-5.3-cp311-cp311-linux_x86_64.whl",
                      older = "pyodbc-5.2-cp311-cp311-linux_x86_64.whl", runs = R"({"requires_dist":[]})";
    const std::string why = "pyodbc 5.3 does not run here: needs libodbc.so.2, which is not here";
    there["pyodbc"] = {wheel_of(older, runs), wheel_of(newer, fails)};
    CHECK(answer("pyodbc>=5") == "unknown requires pyodbc, and " + why);
    CHECK(answer("pyodbc<5.3") == "yes");
    CHECK(answer("pyodbc; extra == 'sql'") == "yes");
    // The newest is for another Python, or a pre-release.
    there["pyodbc"] = {wheel_of("pyodbc-5.3-cp312-cp312-linux_x86_64.whl", fails), wheel_of(older, runs)};
    CHECK(answer("pyodbc") == "yes");
    there["pyodbc"] = {wheel_of("pyodbc-5.3rc1-cp311-cp311-linux_x86_64.whl", fails), wheel_of(older, runs)};
    CHECK(answer("pyodbc") == "yes");
    // One of the newest runs.
    there["pyodbc"] = {wheel_of(newer, fails),
                       wheel_of("pyodbc-5.3+here-cp311-cp311-linux_x86_64.whl", runs)};
    CHECK(answer("pyodbc") == "yes");
    there["pyodbc"] = {wheel_of(newer, fails)};
    there["b"] = {wheel_of("b-2-py3-none-any.whl", R"({"requires_dist":["pyodbc"]})")};
    CHECK(answer("b") == "unknown requires b, which requires pyodbc, and " + why);
    // What is not known of a requirement is a question of its own.
    there["b"] = {wheel_of("b-2-cp311-cp311-linux_x86_64.whl")};
    CHECK(answer("b") == "yes");
    CHECK(judge(wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":["pyodbc"]})"), asked, {},
                {.owned = owned})
              .runs == Runs::yes);
}

TEST_CASE("of what a wheel requires the wheels that an installer takes are asked for their libraries") {
    const std::vector<Candidate> there{wheel_of("b-1-py3-none-any.whl"), wheel_of("b-3-py3-none-any.whl"),
                                       wheel_of("b-2-py3-none-any.whl")};
    const auto taken = [&](const std::string& text) {
        std::string names;
        for (const Candidate* one : taken_wheels(
                 wheel_of("a-1-py3-none-any.whl", R"({"requires_dist":[")" + text + R"(","c"]})"), debian12(),
                 {.owned = [&](const std::string& project) { return project == "b" ? &there : nullptr; }}))
            names += one->release->version.text();
        return names;
    };
    CHECK(taken("b") == "3");
    CHECK(taken("b<3") == "2");
    CHECK(taken("b>3") == "");
    CHECK(taken("b; extra == 'x'") == "");
}

TEST_CASE("a wheel of a lock is judged by the lock's versions, which installers take without asking") {
    const Node node = debian12();
    const std::vector<Candidate> older{wheel_of("torch-2.6.0-cp311-cp311-linux_x86_64.whl")};
    const OwnedWheels owned = [&](const std::string&) { return &older; };
    const LockedVersions locked{
        {"torch", {*wheel::Version::parse("2.9.0"), *wheel::Version::parse("2.8.0")}}};
    const auto answer = [&](const std::string& required) {
        const auto vision =
            wheel_of("torchvision-0.24-py3-none-any.whl", R"({"requires_dist":[")" + required + R"("]})");
        const Fit fit = judge(vision, node, {}, {.owned = owned, .locked = &locked});
        return std::string(runs_text(fit.runs)) + " " + fit.why;
    };
    CHECK(answer("torch==2.9.0") == "yes ");
    CHECK(answer("torch<2.9") == "yes ");  // of another marker
    CHECK(answer("torch==2.6.0") == "unknown requires torch==2.6.0, and the lock has torch 2.9.0, 2.8.0");
    CHECK(answer("torch==2.6.0; python_version < '3.9'") == "yes ");
    CHECK(answer("numpy>=99") == "yes ");  // left to the environment
}

TEST_CASE("a farm's own wheel without a note of its processor is judged by its build's options") {
    Node node = debian12();
    node.cpu = "x86-64-v3";
    const auto built = [](const std::string& cpu, const std::string& rest = {}) {
        return wheel_of(x86, R"({"machines":["x86_64"],"requires_dist":[],"built":{)" +
                                 (cpu.empty() ? "" : R"("cpu":")" + cpu + "\"") + "}" + rest + "}");
    };
    CHECK(found(built("baseline"), node) == "yes");
    CHECK(found(built("x86-64-v3"), node) == "yes");
    CHECK(found(built("x86-64-v4"), node) == "no cpu");
    CHECK(found(built(""), node) == "unknown cpu");
    CHECK(found(built("-march=native"), node) == "unknown cpu");
    CHECK(found(built("", R"(,"isa_needed":"x86-64-v2")"), node) == "yes");  // its note counts
    CHECK(found(wheel_of(x86, R"({"requires_dist":[],"needed":{"system":["libc.so.6"]}})"), node) == "yes");
}

TEST_CASE("an extension is held to the torch that is installed, by the first thing that differs") {
    Node node = h100();
    node.torch = InstalledTorch{.version = "2.6.0+cu124",
                                .folder = "/venv/torch",
                                .toolkits = {{"cuda", "12.4"}},
                                .cxx11_abi = "false",
                                .libraries = {"libc10.so", "libtorch_cpu.so"}};
    struct Case {
        const char* facts;
        const char* why;  // nullptr: it runs
    };
    for (const auto& [facts, why] : {
             Case{R"({"torch_at_least":"2.6","torch_below":"2.7","torch_cxx11_abi":"false"})", nullptr},
             Case{R"({"torch_at_least":"2.7"})",
                  "uses names that torch has since 2.7, and torch 2.6.0+cu124 is"},
             Case{R"({"torch_below":"2.6"})", "uses names that torch has no more since 2.6"},
             Case{R"({"torch_cxx11_abi":"true"})", "is built with _GLIBCXX_USE_CXX11_ABI=1"},
             Case{R"({"torch_cxx11_abi":"mixed"})", nullptr},
             Case{R"({"needed":{"torch":["libc10.so"]}})", nullptr},
             Case{R"({"needed":{"torch":["libtorch_cuda.so"]}})", "needs libtorch_cuda.so"},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.11"],"torch":["libc10.so"]}})",
                  "is built for CUDA 11, and torch 2.6.0+cu124 is installed in /venv/torch with 12.4"},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.12"],"torch":["libc10.so"]}})",
                  nullptr},
             Case{R"({"cuda_sm":["sm_90"],"needed":{"cuda":["libcudart.so.11"]}})", nullptr},
             Case{R"({"requires_dist":["torch==2.6.0"]})", nullptr},
             Case{R"({"requires_dist":["torch==2.5.1"]})", "requires torch==2.5.1, and torch 2.6.0+cu124"},
             Case{R"({"requires_dist":["torch==2.5.1; python_version < '3.9'"]})", nullptr},
             Case{R"({"requires_dist":["torch==1.4.0; extra == 'dev'"]})", nullptr},
         }) {
        CAPTURE(facts);
        const Fit fit = judge(wheel_of("torchvision-0.21.0-cp311-cp311-linux_x86_64.whl", facts), node, {});
        CAPTURE(fit.why);
        CHECK(fit.runs == (why == nullptr ? Runs::yes : Runs::no));
        if (why == nullptr) continue;
        CHECK(fit.code == "torch");
        CHECK(fit.why.find(why) == 0);
    }
    CHECK(judge(wheel_of(x86, R"({"torch_at_least":"2.7"})"), node, {}).runs == Runs::yes);
    node.torch.reset();
    CHECK(judge(wheel_of("a-1-cp311-cp311-linux_x86_64.whl", R"({"torch_at_least":"2.7"})"), node, {}).runs ==
          Runs::yes);
}
