#include "lib/accelerator/rocm.hpp"

#include <doctest/doctest.h>

#include "tests/accelerator/amd_smi_output.hpp"

using namespace wheelyard;
using namespace wheelyard::accelerator::rocm;
using accelerator::FoundGpus;

TEST_CASE("an AMD GPU runs its own code, with the same settings, and its family's generic code") {
    struct Case {
        const char* code;
        const char* gpu;
        bool runs;
    };
    for (const auto& [code, gpu, runs] : {
             Case{"gfx90a", "gfx90a", true},
             Case{"gfx90a", "gfx90a:sramecc+:xnack-", true},
             Case{"gfx90a:xnack-", "gfx90a:sramecc+:xnack-", true},
             Case{"gfx90a:xnack+", "gfx90a:sramecc+:xnack-", false},
             Case{"gfx90a:xnack+", "gfx90a", true},  // the device's setting is unknown
             Case{"gfx908", "gfx90a", false},
             Case{"gfx9-4-generic", "gfx942", true},
             Case{"gfx9-4-generic", "gfx90a", false},
             Case{"gfx11-generic", "gfx1100", true},
             Case{"gfx9-4-generic:xnack-", "gfx942:sramecc+:xnack+", false},
             Case{"gfx9-4-generic:xnack-", "gfx942:sramecc+:xnack-", true},
             Case{"amdgcnspirv", "gfx942", true},
             Case{"amdgcnspirv", "sm_90", false},
         }) {
        CAPTURE(code);
        CAPTURE(gpu);
        CHECK(gfx_runs(code, gpu) == runs);
    }
}

TEST_CASE("GPU architectures are derived from the kernel's number") {
    CHECK(gfx_of_target_version(90010) == "gfx90a");
    CHECK(gfx_of_target_version(90402) == "gfx942");
    CHECK(gfx_of_target_version(100300) == "gfx1030");
    CHECK(gfx_of_target_version(90008) == "gfx908");
    CHECK(gfx_of_target_version(0) == "");
}

TEST_CASE("rocminfo output of various nodes and its errors are parsed") {
    const auto agent = [](const std::string& name, const std::string& marketing,
                          const std::vector<std::string>& isas) {
        std::string text =
            "*******                  \nAgent 2                  \n*******                  \n  Name:        "
            "            " +
            name + "             \n  Marketing Name:          " + marketing +
            "\n  ISA Info:                \n";
        for (const auto& isa : isas)
            text += "      Name:                    amdgcn-amd-amdhsa--" + isa + "\n";
        return text;
    };
    struct Case {
        std::string text;
        std::vector<std::string> archs;
    };
    for (const auto& [text, archs] : {
             Case{agent("gfx906", "AMD Radeon VII", {"gfx906:sramecc+:xnack-"}), {"gfx906:sramecc+:xnack-"}},
             Case{agent("gfx942", "AMD Instinct MI300A",
                        {"gfx942:sramecc+:xnack-", "gfx9-4-generic:sramecc+:xnack-"}),
                  {"gfx942:sramecc+:xnack-"}},
             Case{agent("gfx1100", "", {"gfx1100"}) + agent("gfx1036", "AMD Radeon Graphics", {"gfx1036"}),
                  {"gfx1100", "gfx1036"}},
             Case{"ROCk module is NOT loaded, possibly no GPU devices\n", {}},
             Case{"hsa api call failure at: /src/rocminfo.cc:1219\nCall returned "
                  "HSA_STATUS_ERROR_OUT_OF_RESOURCES\n",
                  {}},
             Case{"", {}},
         }) {
        CAPTURE(text);
        FoundGpus node;
        read_rocminfo(text, node);
        CHECK((node.gpus ? node.gpus->archs : std::vector<std::string>()) == archs);
    }
}

TEST_CASE("amd-smi output of several versions and its errors are parsed") {
    const auto asic = [](const std::string& version) {
        return R"([{"gpu": 0, "asic": {"market_name": "AMD Instinct", "target_graphics_version": )" +
               version + "}}]";
    };
    struct Case {
        std::string text;
        std::vector<std::string> archs;  // empty: GPUs unknown
    };
    for (const auto& [text, archs] : {
             Case{amd_smi_gpus, {"gfx90a", "gfx1101"}},  // up to ROCm 6.3, without the enclosing object
             Case{std::string("{\"gpu_data\": ") + amd_smi_gpus + "}", {"gfx90a", "gfx1101"}},
             Case{"SyntaxWarning: 'return' in a 'finally' block\n" + asic(R"("gfx942")"), {"gfx942"}},
             Case{asic(R"("gfx9008")"), {"gfx908"}},  // the format before ROCm 6.4
             Case{asic(R"("gfx9010")"), {"gfx90a"}},
             Case{asic(R"("gfx11002")"), {"gfx1102"}},
             Case{asic(R"("gfx1030")"), {"gfx1030"}},
             Case{asic(R"("gfx950")"), {"gfx950"}},
             Case{asic(R"("gfx9099")"), {}},  // there is no stepping 99
             Case{asic(R"("N/A")"), {}},
             Case{asic(R"("gfx")"), {}},
             Case{asic(R"("gfx90a; rm")"), {}},
             Case{asic("90010"), {}},
             Case{R"([{"gpu": 0, "asic": "N/A"}])", {}},
             Case{R"([{"gpu": 0, "asic": {"market_name": "AMD Instinct MI100"}}])",
                  {}},  // ROCm 6.1 had no version
             Case{R"({"gpu_data": "N/A"})", {}},
             Case{R"({"gpu_data": [null, 1, "x"]})", {}},
             Case{R"({"error": "AMDSMI_STATUS_NOT_INIT", "code": -32})", {}},
             Case{"ERROR:root:Unable to detect any GPU devices, check amdgpu version and module status\n",
                  {}},
             Case{"[", {}},
             Case{"", {}},
         }) {
        CAPTURE(text);
        FoundGpus node;
        read_amd_smi(text, node);
        CHECK((node.gpus ? node.gpus->archs : std::vector<std::string>()) == archs);
    }
}
