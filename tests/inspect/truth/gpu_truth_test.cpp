#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

struct Fit {
    std::string code, machine;
    bool fits;
};

inspect::Facts facts_of(const std::string& code) {
    inspect::Facts facts;
    if (code.starts_with("sm_")) facts.device_code["cuda_sm"] = {code};
    if (code.starts_with("compute_")) facts.device_code["cuda_ptx"] = {code};
    if (code.starts_with("gfx") || code.starts_with("amdgcn")) facts.device_code["hip_gfx"] = {code};
    return facts;
}

ElfImage cuda(std::uint32_t arch) {
    return {.sections = {{".nv_fatbin", test_support::write_fatbin({{2, arch}})}}};
}
ElfImage hip(const std::string& gfx) {
    return {
        .sections = {{".hip_fatbin", test_support::write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--" + gfx})}}};
}

std::vector<std::string> codes_of(const inspect::Inspection& inspection) {
    std::vector<std::string> codes;
    for (const auto& verdict : inspection.verdicts)
        codes.emplace_back(verdict.code);
    return codes;
}

}  // namespace

TEST_CASE("code runs on compatible GPUs only") {
    for (const Fit& row : {Fit{"sm_80", "sm_80", true},
                           Fit{"sm_80", "sm_86", true},
                           Fit{"sm_86", "sm_80", false},
                           Fit{"sm_80", "sm_90", false},
                           Fit{"sm_90a", "sm_90", true},
                           Fit{"sm_100a", "sm_103", false},
                           Fit{"sm_100f", "sm_103", true},
                           Fit{"sm_103f", "sm_100", false},
                           Fit{"sm_100f", "sm_120", false},
                           Fit{"compute_80", "sm_90", true},
                           Fit{"compute_80", "sm_120", true},
                           Fit{"compute_90", "sm_80", false},
                           Fit{"compute_90a", "sm_100", false},
                           Fit{"compute_90a", "sm_90", true},
                           Fit{"compute_100f", "sm_103", true},
                           Fit{"compute_100f", "sm_120", false},
                           Fit{"sm_90", "gfx90a", false},
                           Fit{"gfx90a", "gfx90a", true},
                           Fit{"gfx90a", "gfx908", false},
                           Fit{"gfx90a", "sm_90", false},
                           Fit{"gfx90a:xnack-", "gfx90a", true},
                           Fit{"gfx90a:xnack-", "gfx90a:xnack+", false},
                           Fit{"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", true},
                           Fit{"gfx90a", "gfx90a:xnack+", true},
                           Fit{"gfx9-4-generic", "gfx942", true},
                           Fit{"gfx9-4-generic", "gfx90a", false},
                           Fit{"gfx9-4-generic:xnack+", "gfx942:xnack-", false},
                           Fit{"gfx11-generic", "gfx1151", true},
                           Fit{"gfx12-5-generic", "gfx1250", true},
                           Fit{"gfx12-5-generic", "gfx1200", false},
                           Fit{"amdgcnspirv", "gfx942", true}}) {
        CAPTURE(row.code);
        CAPTURE(row.machine);
        CHECK(inspect::runs_on(facts_of(row.code), row.machine) == row.fits);
    }
}

TEST_CASE("a GPU architecture has one spelling") {
    for (const std::string_view text : {"sm_70", "sm_103", "gfx90a", "gfx1030", "gfx942:sramecc+:xnack-"})
        CHECK_MESSAGE(accelerator::is_gpu_architecture(text), text);
    for (const std::string_view text :
         {"", "sm_", "sm_90a", "sm_9", "9.0", "sm90", "compute_90", "gfx", "gfxzz0",
          "gfx90a:", "gfx90a:xnack", "gfx9-4-generic", "a100", "GFX90A"})
        CHECK_MESSAGE(!accelerator::is_gpu_architecture(text), text);
}

TEST_CASE("a local version promises a GPU platform if it names one, in any position") {
    for (const std::string local : {"cu126", "cu12torch2.4cxx11abifalse", "cuda12.cudnn89", "pt24cu121",
                                    "2.cu126", "rocm6.2", "1.rocm602"}) {
        CAPTURE(local);
        CHECK(codes_of(checked(with_elf(linux_311, {}, "six/_six.so", "1.16.0+" + local)())) ==
              std::vector<std::string>{"gpu.promised_not_there"});
    }
    for (const std::string local : {"cpu", "cute1", "circus12", "computecanada", "focus2", "rocmless", "1"}) {
        CAPTURE(local);
        CHECK(codes_of(checked(with_elf(linux_311, {}, "six/_six.so", "1.16.0+" + local)())).empty());
    }
}

TEST_CASE("packages without device code satisfy a promise by their dependencies or by being pure") {
    CHECK(codes_of(
              checked(with_elf(linux_311, {.needed = {"libcublas.so.12"}}, "six/_six.so", "1.16.0+cu126")()))
              .empty());
    CHECK(codes_of(checked(with_elf(linux_311, {.needed = {"libtorch_hip.so"}}, "six/_six.so",
                                    "1.16.0+rocm6.2")()))
              .empty());
    // mpi4py over a GPU-aware Cray MPICH needs nothing else of CUDA or ROCm.
    for (const auto& [library, local] :
         {std::pair{"libmpi_gtl_cuda.so", "cu122.a100"}, std::pair{"libmpi_gtl_hsa.so", "rocm5.7.gfx90a"}}) {
        CAPTURE(library);
        CHECK(codes_of(checked(with_elf(linux_311, {.needed = {library}}, "six/_six.so",
                                        std::string("1.16.0+") + local)()))
                  .empty());
    }
    WheelWriter pure("six", "1.16.0+cu126");
    pure.add("six.py", "print('six')\n");
    CHECK(codes_of(checked(pack(pure))).empty());
    // Libraries of the other vendor do not satisfy it.
    CHECK_FALSE(codes_of(checked(with_elf(linux_311, {.needed = {"libamdhip64.so.6"}}, "six/_six.so",
                                          "1.16.0+cu126")()))
                    .empty());
}

TEST_CASE("device code must run on the GPUs in the policy") {
    struct Row {
        ElfImage image;
        std::vector<std::string> machines;
        bool accepted;
    };
    const std::vector<Row> rows = {
        {cuda(80), {}, true},
        {cuda(80), {"sm_80"}, true},
        {cuda(80), {"sm_90"}, false},
        {cuda(80), {"sm_80", "sm_90"}, false},
        {cuda(80), {"gfx90a"}, false},
        {cuda(80), {"sm_80", "gfx90a"}, true},
        {hip("gfx90a"), {"sm_80", "gfx90a"}, true},
        {hip("gfx90a"), {"sm_80", "gfx942"}, false},
        {{}, {"sm_90"}, true},
    };
    for (const Row& row : rows) {
        CAPTURE(base::join(row.machines, " "));
        inspect::InspectOptions options;
        options.policy.gpu_architectures = row.machines;
        const auto inspection = checked(with_elf(linux_311, row.image)(), options);
        CHECK(inspection.accepted() == row.accepted);
        if (!row.accepted) CHECK(codes_of(inspection).front() == "gpu.architecture_missing");
    }
}

TEST_CASE("an unreadable section neither waives nor breaks a promise") {
    const std::pair<std::string, std::string> junk = {".nv_fatbin", "what is this, 32 bytes of junk?!"};
    inspect::InspectOptions options;
    options.policy.gpu_architectures = {"sm_90"};
    struct Row {
        ElfImage image;
        std::string version;
        std::string_view outcome;
    };
    ElfImage sm_80 = cuda(80), sm_90 = cuda(90);
    sm_80.sections.push_back(junk);
    sm_90.sections.push_back(junk);
    for (const Row& row : {Row{{.sections = {junk}}, "1.16.0+cu126", "quarantined"},
                           Row{sm_80, "1.16.0+cu126", "quarantined"}, Row{sm_90, "1.16.0+cu126", "accepted"},
                           Row{sm_90, "1.16.0+rocm6.2", "quarantined"}, Row{sm_90, "1.16.0", "accepted"}}) {
        CAPTURE(row.version);
        const auto inspection =
            checked(with_elf(linux_311, row.image, "six/_six.so", row.version)(), options);
        CHECK(inspection.outcome() == row.outcome);
        const auto codes = codes_of(inspection);
        CHECK(std::count(codes.begin(), codes.end(), "gpu.malformed") == 1);
        CHECK((codes.front() == "gpu.unproven") == (row.outcome == "quarantined"));
    }
    // Needed libraries satisfy a local version's promise in this case too.
    const auto needing = checked(with_elf(linux_311, {.needed = {"libcublas.so.12"}, .sections = {junk}},
                                          "six/_six.so", "1.16.0+cu126")());
    CHECK(needing.accepted());
}

TEST_CASE("device code in files of its own is judged like that in libraries") {
    const std::string cubin = write_elf({.machine = 190, .type = 2, .flags = 0x320550, .abi_version = 7});
    const std::string code_object =
        write_elf({.machine = 224, .flags = 0x54c, .os_abi = 64, .abi_version = 3});
    const std::string bundle = test_support::write_hip_bundle({"hipv4-amdgcn-amd-amdhsa--gfx1030"});
    const auto wheel = [&](const std::string& tags) {
        WheelWriter writer("six", "1.16.0");
        writer.tag(tags)
            .add("six/cubins/gemm.cubin", cubin)
            .add("six/cubins/gemm.ptx", ".version 8.0\n.target sm_90a\n")
            .add("six/hsa/gfx942/gemm.co", code_object)
            .add("six/library/Tensile_gfx1030.co", bundle)
            .add("six/library/gfx90a68.kdb", "SQLite format 3")
            .add("six/six.py", "");
        return pack(writer);
    };
    for (const std::string& tags : {std::string("py3-none-any"), linux_311}) {
        CAPTURE(tags);
        const auto facts = checked(wheel(tags)).facts;
        CHECK(facts.code("cuda_sm") == std::vector<std::string>{"sm_80"});
        CHECK(facts.code("cuda_ptx") == std::vector<std::string>{"compute_90a"});
        CHECK(facts.code("hip_gfx") == std::vector<std::string>{"gfx1030", "gfx942"});
        CHECK(facts.device_code_not_read == std::vector<std::string>{"rocm"});
        struct Row {
            std::vector<std::string> machines;
            bool accepted;
        };
        for (const Row& row : {Row{{"sm_80"}, true}, Row{{"sm_90"}, true}, Row{{"gfx942"}, true},
                               Row{{"gfx1030"}, true}, Row{{"sm_120"}, false}, Row{{"gfx90a"}, false}}) {
            CAPTURE(row.machines.front());
            inspect::InspectOptions options;
            options.policy.gpu_architectures = row.machines;
            const auto inspection = checked(wheel(tags), options);
            CHECK(inspection.accepted() == row.accepted);
            if (!row.accepted) CHECK(codes_of(inspection).front() == "gpu.architecture_missing");
        }
    }
}
