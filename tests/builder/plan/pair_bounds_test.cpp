// Version pairs in the plan: what the machine lacks makes a cell impossible, with the row and its source.
#include "builder/plan/version_choice.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "builder/plan/plan.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

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
        {"Python", [](Scene& s) { s.python.full_version = "3.7.2"; },
         "the site has python 3.7.2, it needs python>=3.8 (torch>=2.0,<2.6: "},
        {"label",
         [](Scene& s) {
             s.version = "2.4.0+a100";
             s.python.full_version = "3.7.2";
         },
         "; torch==1.13.* is the newest that takes python 3.7.2"},
        {"a Python that upstream builds no wheel for", [](Scene& s) { s.python.full_version = "3.13.0"; },
         ""},
        {"cuDNN", [](Scene& s) { s.site.accelerators[0].modules[1] = "cudnn/8.0.4"; },
         "the site has cudnn 8.0.4, it needs cudnn>=8.1 (torch>=2.3,<2.16: PyTorch requires cuDNN 8.1"},
        {"cuDNN 9 with torch 2.3", [](Scene& s) { s.version = "2.3.1"; }, ""},
        {"CUDA", [](Scene& s) { s.version = "2.14.0"; },
         "the site has cuda 12.2.1, it needs cuda>=12.6 (torch>=2.14,<2.16: PyTorch requires CUDA 12.6 or "
         "above; "},
        {"the newest for that CUDA", [](Scene& s) { s.version = "2.14.0"; },
         "; torch>=2.12,<2.14 is the newest that takes cuda 12.2.1"},
        {"a CUDA that upstream builds no wheel for",
         [](Scene& s) { s.site.accelerators[0].modules[0] = "cuda/12.8"; }, ""},
        {"a module that names CUDA's first number alone, with the rest in [versions]",
         [](Scene& s) {
             s.version = "2.15.0";
             s.site.accelerators[0].modules[0] = "CUDA/12";
             s.site.provided_versions["cuda"] = "12.6";
         },
         ""},
        {"another version in [versions] than the module's",
         [](Scene& s) {
             s.version = "2.15.0";
             s.site.accelerators[0].modules[0] = "CUDA/11";
             s.site.provided_versions["cuda"] = "12.6";
         },
         "the site has cuda 11, it needs cuda>=12.6 "},
        {"the same without it",
         [](Scene& s) {
             s.version = "2.15.0";
             s.site.accelerators[0].modules[0] = "CUDA/12";
         },
         "the site has cuda 12, it needs cuda>=12.6 "},
        {"another accelerator has no CUDA", [](Scene& s) { s.accelerator = ""; }, ""},
        {"the plugin for AWS", [](Scene& s) { s.recipe.beside[1].tag = "v1.11.0-aws"; },
         "the site has libfabric 1.15.2.0, it needs libfabric>=1.18 (aws-ofi-nccl>=1.8,<1.14: the releases "
         "of this "
         "series are for AWS instances alone; https://github.com/aws/aws-ofi-nccl/releases; "},
        {"NCCL", [](Scene& s) { s.recipe.beside[0].tag = "v2.22.3-1"; },
         "the site has nccl 2.22.3, it needs nccl>=2.4.8,<2.22"},
        {"a gcc that CUDA refuses", [](Scene& s) { s.site.modules.load[0] = "gcc/13.1.0"; },
         "the site has gcc 13.1.0, it needs gcc<13 (cuda>=12.0,<12.4: its crt/host_config.h refuses "
         "others; "},
        {"the newest that takes it", [](Scene& s) { s.site.modules.load[0] = "gcc/15.2.0"; },
         "; cuda>=13.4,<13.6 is the newest that takes gcc 15.2.0"},
        {"nvcc calls another compiler",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/13.1.0";
             s.site.compilers.cxx = "CC";
         },
         ""},
        {"a variable names another compiler",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/13.1.0";
             s.site.environment = {{"NVCC_CCBIN", "/usr/bin/g++-12"}};
         },
         ""},
        {"a module is told another compiler",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/13.1.0";
             s.site.modules.environment = {{"CUDAHOSTCXX", "/usr/bin/g++-12"}};
         },
         ""},
        {"a step names another compiler",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/13.1.0";
             s.recipe.configure = {"export CUDAHOSTCXX=/usr/bin/g++-12"};
         },
         ""},
        {"CMake's options name another compiler",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/13.1.0";
             s.recipe.build_environment = {{"OPTIONS", "-DCMAKE_CUDA_HOST_COMPILER=g++-12"}};
         },
         ""},
        {"a clang beside the g++ that nvcc calls", [](Scene& s) { s.site.modules.load[0] = "clang/20.1"; },
         ""},
        {"a clang that CUDA refuses",
         [](Scene& s) {
             s.site.modules.load[0] = "clang/20.1";
             s.site.compilers.cxx = "clang++";
         },
         "the site has clang 20.1, it needs clang>=3.3,<17 (cuda>=12.2,<12.4: "},
        {"gcc for processors alone",
         [](Scene& s) {
             s.site.modules.load[0] = "gcc/16.1.0";
             s.accelerator = "";
         },
         ""},
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

TEST_CASE(
    "the rows of CUDA have the architectures that its compiler lists, and the host compilers that it takes") {
    const Scene scene;
    const auto text =
        base::read_file(fs::path(WHEELYARD_TEST_DATA) / "docs/data/cuda-toolkits.tsv", base::mib);
    REQUIRE(text.has_value());
    std::set<std::string> all;
    std::map<std::pair<std::string, std::string>, std::string> compilers;  // the first that it refuses
    std::vector<std::pair<wheel::Version, std::set<std::string>>> toolkits;
    for (const auto line : base::split_lines(*text)) {
        const auto fields = base::split(line, '\t');
        if (fields.size() != 4 || !fields[0].starts_with("nvidia")) continue;
        std::set<std::string> codes;
        for (const auto code : base::split(fields[1], ' '))
            codes.insert(std::string(code));
        all.insert(codes.begin(), codes.end());
        const std::string version(fields[0].substr(fields[0].find(' ') + 1));
        compilers[{version, "gcc"}] = fields[2];
        compilers[{version, "clang"}] = fields[3];
        toolkits.emplace_back(*wheel::Version::parse(version), codes);
    }
    CHECK(toolkits.size() == 17);
    for (const auto& [version, codes] : toolkits) {
        CAPTURE(version.text());
        auto rows = pairs_for(scene.site.version_pairs, {{"cuda", version}}, {PairUse::machine});
        REQUIRE(rows.size() == 3);
        REQUIRE(rows.front().with == with_gpu);
        for (const auto& row : rows) {
            if (row.with == with_gpu) continue;
            const int refused = std::stoi(compilers.at({version.text(), row.with}));
            CHECK(row.allowed_set.contains(*wheel::Version::parse(std::to_string(refused - 1) + ".9")));
            CHECK_FALSE(row.allowed_set.contains(*wheel::Version::parse(std::to_string(refused) + ".1")));
        }
        for (const auto& code : all) {
            CAPTURE(code);
            CHECK(rows.front().allows_gpu(code) == (codes.count(code) == 1));
        }
    }
}

TEST_CASE("no row refuses a GPU for which a real wheel of torch or of a companion has code") {
    const Scene scene;
    const auto text =
        base::read_file(fs::path(WHEELYARD_TEST_DATA) / "docs/data/wheel-gpu-code.tsv", base::mib);
    REQUIRE(text.has_value());
    std::map<std::string, int> wheels;  // by package
    for (const auto line : base::split_lines(*text)) {
        const auto fields = base::split(line, '\t');
        const auto of = exact_version(fields[0]);
        if (fields.size() != 4 || !of) continue;
        CAPTURE(fields[0]);
        ++wheels[of->first];
        std::vector<VersionPair> rows = pairs_for(scene.site.version_pairs, {*of}, {PairUse::machine});
        if (const auto cuda = wheel::Version::parse(fields[1])) {
            const auto of_cuda = pairs_for(scene.site.version_pairs, {{"cuda", *cuda}}, {PairUse::machine});
            rows.insert(rows.end(), of_cuda.begin(), of_cuda.end());
        }
        std::erase_if(rows, [](const VersionPair& row) { return !row.is_of_gpu(); });
        const std::string codes = std::string(fields[2]) + " " + std::string(fields[3]);
        for (const auto& row : rows) {
            CAPTURE(row.text());
            for (const auto code : base::split(codes, ' ')) {
                CAPTURE(std::string(code));
                CHECK((code == "-" || row.allows_gpu(code)));
            }
        }
        if (of->first == "torch") CHECK(rows.size() == 2);  // of its CUDA, and for its companions
    }
    CHECK(wheels["torch"] >= 8);
    CHECK(wheels.size() >= 5);
}

TEST_CASE("the rows of ROCm have the GPUs that its rocBLAS has code for, and another one is untested") {
    const Scene scene;
    const auto text =
        base::read_file(fs::path(WHEELYARD_TEST_DATA) / "docs/data/rocblas-targets.tsv", base::mib);
    REQUIRE(text.has_value());
    std::vector<std::pair<std::string, std::set<std::string>>> releases;
    std::set<std::string> all;
    for (const auto line : base::split_lines(*text)) {
        const auto fields = base::split(line, '\t');
        if (fields.size() != 2 || !fields[1].starts_with("gfx")) continue;
        std::set<std::string> gpus;
        for (const auto target : base::split(fields[1], ';'))
            gpus.insert(std::string(target.substr(0, target.find(':'))));
        all.insert(gpus.begin(), gpus.end());
        releases.emplace_back(fields[0], gpus);
    }
    CHECK(releases.size() == 6);
    for (const auto& [release, gpus] : releases) {
        for (const auto& gpu : all) {
            CAPTURE(release);
            CAPTURE(gpu);
            Scene one;
            one.recipe.package = "demo";  // of which no row says anything
            one.recipe.beside.clear();
            one.recipe.build_environment = {{"GPUS", "{rocm_architectures}"}};
            one.site.accelerators = {{"gpu", "rocm", {"gfx90a:xnack-", gpu}, "x", {}, {}}};
            one.site.accelerators[0].modules = {"rocm/" + release + ".1"};
            const wheel::Version version = *wheel::Version::parse("1.0");
            const PairInput input{one.site, one.recipe, version, one.python, "gpu"};
            const auto rows =
                pairs_for(scene.site.version_pairs, {{"rocm", *wheel::Version::parse(release + ".1")}},
                          {PairUse::tested});
            REQUIRE(rows.size() == 1);
            CHECK(rows.front().allows_gpu(gpu) == gpus.contains(gpu));
            const auto unknown = find_unknown(input);
            // What no compiler of the release takes is impossible, and the rest is built without it.
            const bool is_left_out = !fit_gpus(input).refusals.empty();
            const std::string reason = unknown ? unknown->reason : "";
            CHECK_MESSAGE(
                (reason.ends_with(", the site has " + gpu)) == (!gpus.contains(gpu) && !is_left_out), reason);
        }
    }
}

TEST_CASE("of nvcc's host compiler nothing is said where a variable can change it") {
    for (const char* name : {"CXX", "NVCC_CCBIN", "CUDAHOSTCXX", "CUDA_HOST_COMPILER", "NVCC_APPEND_FLAGS",
                             "NVCC_PREPEND_FLAGS", "CUDAFLAGS", "TORCH_NVCC_FLAGS", "CUDA_NVCC_FLAGS",
                             "CMAKE_CUDA_HOST_COMPILER", "CMAKE_ARGS", "CMAKE_CUDA_FLAGS"}) {
        CAPTURE(name);
        Scene scene;
        scene.site.modules.load[0] = "gcc/13.1.0";
        scene.site.accelerators[0].environment = {{"CFLAGS", "-O2"}};
        CHECK(!scene.misfit().empty());
        scene.site.accelerators[0].environment.emplace_back(name, "x");
        CHECK(scene.misfit().empty());
    }
}

TEST_CASE("of GPUs nothing is said where the recipe does not pass on the site's, or a switch is set") {
    struct Row {
        const char* what;
        Environment variables;
        std::string step;
        bool fits;
    };
    const std::string name = "TORCH_CUDA_ARCH_LIST", all = "{cuda_architectures}";
    const Row rows[] = {
        {"a placeholder", {{name, all}}, "", false},
        {"with code that the driver compiles", {{name, all + "+PTX"}}, "", false},
        {"inside options", {{"OPTIONS", "-DARCH=" + all}}, "", false},
        {"nothing, as where no code for GPUs is compiled", {{"MAX_JOBS", "{cores}"}}, "", true},
        {"a list", {{name, "8.0"}}, "", true},
        {"a list with code that the driver compiles", {{name, "6.0+PTX"}}, "", true},
        {"of another kind", {{name, "{rocm_architectures}"}}, "", true},
        {"the shell's", {{name, "$" + all}}, "", true},
        {"a step sets it", {{name, all}}, "export " + name + "=8.0", true},
        {"a step reads it", {{name, all}}, "export ARCHS=$" + name, false},
        {"a switch of the source", {{name, all}, {"FLASH_ATTENTION_SKIP_CUDA_BUILD", "TRUE"}}, "", true},
        {"a switch in a step", {{name, all}}, "export FLASH_ATTENTION_SKIP_CUDA_BUILD=TRUE", true},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        scene.recipe.package = "flash-attn";
        scene.recipe.build_environment = row.variables;
        if (!row.step.empty()) scene.recipe.configure = {row.step};
        scene.site.accelerators[0].architectures = {"sm_70", "sm_80"};
        scene.site.accelerators[0].modules[0] = "cuda/13.0";  // which refuses sm_70, too
        const wheel::Version version = *wheel::Version::parse("2.8.3");
        const GpuFit fit =
            fit_gpus({scene.site, scene.recipe, version, scene.python, "a100", "torch==2.12.0"});
        CHECK(fit.refusals.empty() == row.fits);
        CHECK(fit.fitting.size() == (row.fits ? 2 : 1));
    }
    // The same of what torch takes for its companions.
    Scene scene;
    scene.recipe.package = "torchvision";
    scene.site.accelerators[0].architectures = {"sm_103"};
    scene.site.accelerators[0].modules[0] = "cuda/12.9";
    const wheel::Version version = *wheel::Version::parse("0.22.1");
    const PairInput input{scene.site, scene.recipe, version, scene.python, "a100", "torch==2.7.1"};
    CHECK(fit_gpus(input).refusals.empty());
    scene.recipe.build_environment = {{name, all}};
    CHECK(fit_gpus(input).refusals.find("extension-gpu") != std::string::npos);
    scene.recipe.package = "torchaudio";  // its CMake takes any
    CHECK(fit_gpus(input).refusals.empty());
}

TEST_CASE(
    "a source that compiles for an architecture that nvcc 13 lacks needs an older CUDA, unless it compiles "
    "none") {
    Scene scene;
    scene.recipe.package = "causal-conv1d";
    scene.version = "1.5.2";
    scene.site.accelerators[0].modules[0] = "cuda/13.0";
    CHECK(scene.misfit().find("it needs cuda>=11.6,<13 (causal-conv1d>=1.2,<=1.5.2: ") != std::string::npos);
    scene.recipe.build_environment = {{"CAUSAL_CONV1D_SKIP_CUDA_BUILD", "TRUE"}};
    CHECK(scene.misfit().empty());
}

TEST_CASE("a GPU that the toolkit or the source cannot be compiled for is left out, with the row") {
    struct Row {
        const char* package;
        const char* version;
        const char* kind;
        const char* toolkit;  // its module; empty: not known
        std::vector<std::string> gpus, fitting;
        const char* refusal;
    };
    const Row rows[] = {
        {"torch", "2.12.0", "cuda", "cuda/12.6", {"sm_70", "sm_90a"}, {"sm_70", "sm_90a"}, ""},
        {"torch",
         "2.12.0",
         "cuda",
         "cuda/13.0",
         {"sm_70", "sm_80", "sm_90"},
         {"sm_80", "sm_90"},
         "it cannot be compiled for sm_70, by the row gpu sm_75 sm_80 "},
        {"torch",
         "2.12.0",
         "cuda",
         "cuda/13.0",
         {"sm_70"},
         {},
         "; cuda==12.9.* is the newest that takes sm_70"},
        {"torch",
         "2.12.0",
         "cuda",
         "cuda/12.6",
         {"sm_100"},
         {},
         "; cuda>=13.4,<13.6 is the newest that takes"},
        {"torch", "2.12.0", "cuda", "cuda/12", {"sm_100"}, {"sm_100"}, ""},
        {"torch", "2.12.0", "cuda", "cuda/14.0", {"sm_70"}, {"sm_70"}, ""},
        {"torch", "2.12.0", "cuda", "", {"sm_70"}, {"sm_70"}, ""},
        {"flash-attn",
         "2.8.3.post2",
         "cuda",
         "cuda/12.6",
         {"sm_70", "sm_86"},
         {"sm_86"},
         "it cannot be compiled for sm_70, by the row gpu sm_80+ gfx90a gfx942 gfx950 "
         "(flash-attn>=2.8,<=2.8.3.post2: "},
        // No source of a later one was read.
        {"flash-attn", "2.8.4", "cuda", "cuda/12.6", {"sm_70"}, {"sm_70"}, ""},
        {"flash-attn",
         "2.7.2.post1",
         "cuda",
         "cuda/12.9",
         {"sm_86", "sm_90", "sm_100"},
         {"sm_86", "sm_90"},
         "; flash-attn>=2.8,<=2.8.3.post2 is the newest that takes sm_100"},
        {"causal-conv1d", "1.2.0.post2", "cuda", "cuda/12.6", {"sm_53", "sm_75"}, {"sm_75"}, "for sm_53, "},
        {"causal-conv1d",
         "1.4.0",
         "cuda",
         "cuda/12.6",
         {"sm_53", "sm_60", "sm_61", "sm_62", "sm_75"},
         {"sm_53", "sm_62", "sm_75"},
         "for sm_60, "},
        {"mamba-ssm", "2.3.1", "cuda", "cuda/12.6", {"sm_61", "sm_70"}, {"sm_70"}, "for sm_61, "},
        {"causal-conv1d",
         "1.7.0",
         "cuda",
         "cuda/12.6",
         {"sm_70"},
         {},
         "; causal-conv1d>=1.5.3,<=1.6.1 is the newest that takes sm_70"},
        {"flash-attn",
         "2.8.3",
         "rocm",
         "rocm/6.4",
         {"gfx908", "gfx90a:xnack-", "gfx90a"},
         {"gfx90a"},
         "it cannot be compiled for gfx90a:xnack-, by the row gpu "},
        {"vllm", "0.11.0", "rocm", "rocm/6.4", {"gfx90a:xnack-"}, {}, "for gfx90a:xnack-, "},
        {"torch", "2.6.0", "rocm", "rocm/6.2.4", {"gfx950:xnack-", "gfx90a:xnack-"}, {"gfx90a:xnack-"}, ""},
        {"torch",
         "2.6.0",
         "rocm",
         "rocm/6.2.4",
         {"gfx942", "gfx950"},
         {"gfx942"},
         "it cannot be compiled for gfx950, by the row gpu !gfx950 (rocm>=6.0,<6.4: "},
        {"causal-conv1d", "1.7.0", "rocm", "rocm/6.4", {"gfx908"}, {"gfx908"}, ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.package);
        CAPTURE(row.toolkit);
        Scene scene;
        scene.recipe.package = row.package;
        scene.recipe.beside.clear();
        scene.site.accelerators = {{"gpu", row.kind, row.gpus, "x", {}, {}}};
        if (*row.toolkit != '\0') scene.site.accelerators[0].modules = {row.toolkit};
        scene.accelerator = "gpu";
        scene.recipe.build_environment = {{"GPUS", "{cuda_architectures}{rocm_architectures}"}};
        const wheel::Version version = *wheel::Version::parse(row.version);
        const PairInput input{scene.site, scene.recipe, version, scene.python, "gpu"};
        const GpuFit fit = fit_gpus(input);
        CHECK(fit.fitting == row.fitting);
        CHECK_MESSAGE(fit.refusals.find(row.refusal) != std::string::npos, fit.refusals);
        CHECK(fit.refusals.empty() == (row.fitting.size() == row.gpus.size()));
        scene.version = row.version;
        if (row.fitting.empty()) CHECK(scene.misfit() == fit.refusals);
        // The job's variables, and the check of its wheel, have the same list.
        Asked asked;
        asked.version = row.version;
        asked.accelerator = "gpu";
        CHECK(for_gpus(scene.site, scene.recipe, asked).accelerators[0].architectures ==
              (row.fitting.empty() ? row.gpus : row.fitting));  // a check of none would take any wheel
        // What is not compiled here fits.
        scene.recipe.source = SourceKind::upstream;
        CHECK(fit_gpus(input).fitting == row.gpus);
    }
}

TEST_CASE("no newest version is named for a GPU that another row refuses, too") {
    Scene scene;
    scene.recipe.package = "mamba-ssm";
    scene.recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "{cuda_architectures}"}};
    scene.site.accelerators[0].architectures = {"sm_70"};
    const wheel::Version version = *wheel::Version::parse("2.3.2.post1");
    const PairInput input{scene.site, scene.recipe, version, scene.python, "a100", ""};
    CHECK(fit_gpus(input).refusals.ends_with("; mamba-ssm>=2.2.6,<=2.3.1 is the newest that takes sm_70"));
    scene.site.accelerators[0].modules[0] = "cuda/13.0";
    CHECK(fit_gpus(input).refusals.find("newest") == std::string::npos);
}

TEST_CASE("versions that no row covers are unknown, with the nearest row") {
    struct Row {
        const char* what;
        void (*change)(Scene&);
        const char* reason;
        const char* nearest;
    };
    const Row rows[] = {
        {"covered", [](Scene&) {}, "", ""},
        {"a torch newer than the table", [](Scene& s) { s.version = "2.16.0"; },
         "no row for torch 2.16.0 with cuda 12.2.1", "cuda>=13.0,<13.3 (torch==2.15.*"},
        {"the next major version",
         [](Scene& s) {
             s.version = "3.0";
             s.accelerator = "";
         },
         "no row for torch 3.0 with python 3.12.1", "python>=3.11,<3.16 (torch==2.15.*"},
        {"older than the table", [](Scene& s) { s.version = "1.9.1"; },
         "no row for torch 1.9.1 with cuda 12.2.1", "(torch==1.13.*"},
        {"a ROCm that no row names",
         [](Scene& s) {
             s.version = "2.15.0";
             s.site.accelerators = {{"a100", "rocm", {"gfx90a"}, "x", {"rocm/7.2.0"}, {}}};
         },
         "no row for torch 2.15.0 with rocm 7.2.0", "rocm==7.14.* (torch==2.14.*"},
        {"the module of Cray",
         [](Scene& s) {
             s.version = "2.16.0";
             s.site.accelerators[0].modules = {"cudatoolkit/11.0"};
         },
         "no row for torch 2.16.0 with cuda 11.0", ""},
        {"a CUDA that the source takes and upstream does not build",
         [](Scene& s) {
             s.version = "2.13.0";
             s.site.accelerators[0].modules[0] = "cuda/12.3";
         },
         "untested: upstream builds torch>=2.12,<2.15 with cuda>=12.6,<13.3, the site has cuda 12.3",
         "cuda>=12.6,<13.3 (torch>=2.12,<2.15"},
        {"a ROCm that AMD builds and upstream does not",
         [](Scene& s) {
             s.version = "2.9.1";
             s.site.accelerators = {{"a100", "rocm", {"gfx90a"}, "x", {"rocm/7.1.1"}, {}}};
         },
         "untested: upstream builds torch>=2.8,<2.10 with rocm==6.4.*, the site has rocm 7.1.1", ""},
        {"a version that is not named",
         [](Scene& s) {
             s.version = "2.16.0";
             s.site.accelerators[0].modules = {};
             s.python.full_version = "";
         },
         "", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        Scene scene;
        row.change(scene);
        const auto found = find_unknown({scene.site, scene.recipe, *wheel::Version::parse(scene.version),
                                         scene.python, scene.accelerator});
        CHECK((found ? found->reason : "") == row.reason);
        if (found) CHECK_MESSAGE(found->nearest.find(row.nearest) != std::string::npos, found->nearest);
    }
    Scene cray;
    const auto untested = [](const Scene& scene) {
        return find_unknown({scene.site, scene.recipe, *wheel::Version::parse(scene.version), scene.python,
                             scene.accelerator})
            ->reason;
    };
    cray.site.accelerators[0].modules = {"cudatoolkit/11.0"};
    CHECK(untested(cray).find("cuda>=11.8,<12.5, the site has cuda 11.0") != std::string::npos);
    cray.site.accelerators[0].modules = {"cudatoolkit/24.11_12.6"};  // HPC SDK 24.11 with CUDA 12.6
    CHECK(untested(cray).find("cuda>=11.8,<12.5, the site has cuda 12.6") != std::string::npos);
    cray.version = "2.9.0";
    cray.site.accelerators[0].modules = {"cudatoolkit/11.0"};
    CHECK(cray.misfit().find("the site has cuda 11.0, it needs cuda>=12.0") == 0);
}

TEST_CASE("a site decides whether unknown cells build, and a range takes what is known") {
    Scene scene;
    Site site = scene.site;
    site.pythons = {{"3.12", "python3.12"}};
    site.wants = {{"torch", {"2.16.0", ">=2"}, {"3.12"}}};
    Recipe torch = scene.recipe;
    torch.file = "torch.toml";
    torch.accelerators = {"cuda"};
    Recipes recipes;
    recipes.add(torch);
    World world;
    world.pythons.emplace("3.12", scene.python);
    SdistOffers offers;
    for (const char* version : {"2.4.0", "2.5.1", "2.16.0"}) {
        SdistOffer offer;
        offer.version = *wheel::Version::parse(version);
        offers.sdists.push_back(offer);
    }
    world.offers.emplace("torch", offers);
    Plan plan = make_plan(site, recipes, world);
    REQUIRE(plan.cells.size() == 2);
    CHECK(plan.cells[0].state == CellState::unknown);
    CHECK(plan.cells[0].reason.find("no row for torch 2.16.0 with cuda 12.2.1; `build_unknown = true`") == 0);
    CHECK(plan.cells[0].bounds.front().find("nearest row: cuda>=13.0,<13.3") == 0);
    CHECK(plan.cells[1].version == "2.5.1");
    site.build_unknown = true;
    plan = make_plan(site, recipes, world);
    REQUIRE(plan.cells.size() == 1);
    CHECK(plan.cells[0].version == "2.16.0");
    CHECK(plan.cells[0].state == CellState::wanted);
}

TEST_CASE("the plan cites the rows that bound a cell, and a misfit makes it impossible") {
    Scene scene;
    Site site = scene.site;
    site.pythons = {{"3.12", "python3.12"}};
    site.wants = {{"torch", {"2.4.0", "2.14.0"}, {"3.12"}}};
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
    CHECK(plan.cells[1].reason.find("cmake/public/cuda.cmake") != std::string::npos);
}

TEST_CASE("where some of a site's GPUs fit, the plan builds for those and says so") {
    Scene scene;
    Site site = scene.site;
    site.pythons = {{"3.12", "python3.12"}};
    site.wants = {{"torch", {"2.12.0"}, {"3.12"}}};
    site.accelerators[0].modules[0] = "cuda/13.0";
    site.accelerators[0].architectures = {"sm_70", "sm_80", "sm_90"};
    Recipe torch = scene.recipe;
    torch.file = "torch.toml";
    torch.accelerators = {"cuda"};
    torch.build_environment = {{"TORCH_CUDA_ARCH_LIST", "{cuda_architectures}"}};
    Recipes recipes;
    recipes.add(torch);
    World world;
    world.pythons.emplace("3.12", scene.python);
    const Plan plan = make_plan(site, recipes, world);
    CHECK(plan.cells[0].state == CellState::wanted);
    CHECK_MESSAGE(plan.cells[0].reason.find(
                      "; for sm_80, sm_90 alone, so an index that asks for all refuses it: "
                      "it cannot be compiled for sm_70, by the row gpu sm_75 ") != std::string::npos,
                  plan.cells[0].reason);
}

TEST_CASE("what torch compiles its companions for bounds those that name no GPUs themselves") {
    Scene scene;
    scene.site.accelerators[0].modules[0] = "cuda/12.9";
    scene.recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "{cuda_architectures}"}};
    const auto fitting = [&](const char* package, const char* package_version, const char* torch) {
        scene.recipe.package = package;
        const wheel::Version version = *wheel::Version::parse(package_version);
        return fit_gpus({scene.site, scene.recipe, version, scene.python, "a100", torch}).fitting;
    };
    using Gpus = std::vector<std::string>;
    scene.site.accelerators[0].architectures = {"sm_80", "sm_120"};
    CHECK(fitting("torch", "2.6.0", "") == Gpus{"sm_80", "sm_120"});
    CHECK(fitting("torchvision", "0.21.0", "torch==2.6.0+cu129") == Gpus{"sm_80"});
    CHECK(fitting("torchvision", "0.22.0", "torch==2.7.0") == Gpus{"sm_80", "sm_120"});
    CHECK(fitting("torchvision", "0.22.0", "torch==3.0.0") == Gpus{"sm_80", "sm_120"});
    CHECK(fitting("flash-attn", "2.8.3", "torch==2.6.0") == Gpus{"sm_80", "sm_120"});
    scene.site.accelerators[0].architectures = {"sm_120"};
    CHECK(fitting("torchvision", "0.21.0", "torch==2.6.0").empty());
}

TEST_CASE("a build for processors is bounded by no row of CUDA") {
    Scene scene;
    const auto cited = [&](const std::string& accelerator) {
        std::string all;
        for (const auto& one : cite_bounds(
                 {scene.site, scene.recipe, *wheel::Version::parse("2.4.0"), scene.python, accelerator}))
            all += one.substr(0, one.find(" by ")) + " ";
        return all;
    };
    CHECK(cited("a100") ==
          "cmake<4 setuptools<82 python>=3.8,<3.13 cuda>=11.8,<12.5 cudnn>=9 python>=3.8 cuda>=11.0 "
          "cudnn>=8.1 ");
    CHECK(cited("") == "cmake<4 setuptools<82 python>=3.8,<3.13 python>=3.8 ");
    scene.site.accelerators.push_back({"cpu", "cpu", {}, "cpu", {}, {}});
    CHECK(cited("cpu") == cited(""));
}

// What EasyBuild's recipes list as patches of each release, read at 9ba1c109b9.
TEST_CASE("a torch has the limits that EasyBuild patches in that release, on that processor") {
    Scene scene;
    const auto limits = [&](const char* torch, const char* machine, SourceKind source) {
        scene.python.environment.machine = machine;
        scene.recipe.source = source;
        std::string all;
        for (const auto& one :
             cite_limits({scene.site, scene.recipe, *wheel::Version::parse(torch), scene.python, ""}))
            all += one + "\n";
        return all;
    };
    const auto git = SourceKind::git;
    const char* const bias = "adds a bias in float32 wrongly";
    const char* const solve = "linalg.solve and tensorsolve give other digits";
    const char* const openmp = "two OpenMP runtimes";
    struct Row {
        const char* torch;
        const char* machine;
        SourceKind source;
        std::vector<const char*> has;
        std::vector<const char*> lacks;
    };
    const Row rows[] = {
        {"2.1.2", "x86_64", git, {"oneDNN, before 3.3, writes beyond a buffer"}, {bias, solve, openmp}},
        {"2.3.0", "x86_64", git, {bias, openmp, "cpuinfo"}, {solve}},
        {"2.6.0+cu123", "x86_64", git, {bias, solve, openmp, "cpuinfo"}, {"standard output"}},
        {"2.6.0", "aarch64", git, {solve, openmp}, {bias, "cpuinfo"}},
        {"2.6.0", "x86_64", SourceKind::upstream, {bias, solve}, {openmp}},
        {"2.7.1", "x86_64", git, {solve, openmp, "standard output"}, {bias, "cpuinfo", "shifts"}},
        {"2.7.1", "ppc64le", git, {solve, "shifts"}, {bias}},
        {"2.9.1", "x86_64", git, {openmp, "standard output"}, {bias, solve}},
    };
    for (const auto& row : rows) {
        CAPTURE(row.torch);
        CAPTURE(row.machine);
        const std::string all = limits(row.torch, row.machine, row.source);
        for (const char* one : row.has)
            CHECK_MESSAGE(all.find(one) != std::string::npos, one << "\n" << all);
        for (const char* one : row.lacks)
            CHECK_MESSAGE(all.find(one) == std::string::npos, one << "\n" << all);
    }
    CHECK(limits("2.6.0", "aarch64", git).find(" (https://github.com/pytorch/pytorch/pull/154983)\n") !=
          std::string::npos);
    CHECK(limits("2.10.0", "x86_64", git).empty());
}

TEST_CASE("the bindings of a library that has the same name are held to the library that the site has") {
    Scene scene;
    scene.recipe = default_recipe("gdal");
    scene.accelerator.clear();
    scene.site.provided_versions = {{"gdal", "3.6.2"}};
    scene.version = "3.6.4";
    CHECK(scene.misfit() == "");
    scene.version = "3.8.0";
    CHECK(scene.misfit().starts_with("the site has gdal 3.6.2, it needs gdal==3.8.*"));
}

}  // namespace
}  // namespace wheelyard::builder
