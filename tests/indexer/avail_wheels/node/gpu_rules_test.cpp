#include "indexer/avail_wheels/node/gpu_rules.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::avail_wheels;

TEST_CASE("device code runs on GPUs of the same major version with the same or a newer minor version") {
    struct Case {
        const char* code;
        const char* gpu;
        bool runs;
    };
    for (const auto& [code, gpu, runs] : {
             Case{"sm_80", "sm_80", true},
             Case{"sm_80", "sm_86", true},
             Case{"sm_86", "sm_80", false},
             Case{"sm_80", "sm_90", false},
             Case{"sm_90", "sm_80", false},
             Case{"sm_90a", "sm_90", true},
             Case{"sm_100", "sm_103", true},
             Case{"sm_100a", "sm_103", false},
             Case{"sm_100f", "sm_103", true},
             Case{"sm_100", "sm_120", false},
             Case{"sm_120", "sm_121", true},
             Case{"nonsense", "sm_80", false},
             Case{"sm_80", "gfx90a", false},
         }) {
        CAPTURE(code);
        CAPTURE(gpu);
        CHECK(cubin_runs(code, gpu) == runs);
    }
}

TEST_CASE("PTX runs on every newer GPU, unless it is for one GPU or one family") {
    struct Case {
        const char* code;
        const char* gpu;
        bool runs;
    };
    for (const auto& [code, gpu, runs] : {
             Case{"compute_80", "sm_80", true},
             Case{"compute_80", "sm_90", true},
             Case{"compute_90", "sm_120", true},
             Case{"compute_90", "sm_89", false},
             Case{"compute_90a", "sm_90", true},
             Case{"compute_90a", "sm_100", false},
             Case{"compute_100f", "sm_103", true},
             Case{"compute_100f", "sm_120", false},
             Case{"compute_86", "sm_80", false},
         }) {
        CAPTURE(code);
        CAPTURE(gpu);
        CHECK(ptx_runs(code, gpu) == runs);
    }
}

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

TEST_CASE("GPU architectures are derived from capability, model and the kernel's number") {
    CHECK(sm_of_capability(" 9.0") == "sm_90");
    CHECK(sm_of_capability("12.1") == "sm_121");
    CHECK(sm_of_capability("[N/A]") == "");
    struct Case {
        const char* model;
        const char* sm;
    };
    for (const auto& [model, sm] : {
             Case{"NVIDIA H100 80GB HBM3", "sm_90"},
             Case{"NVIDIA GH200 480GB", "sm_90"},
             Case{"NVIDIA A100-SXM4-40GB", "sm_80"},
             Case{"NVIDIA A10", "sm_86"},
             Case{"NVIDIA L40S", "sm_89"},
             Case{"NVIDIA L4", "sm_89"},
             Case{"Tesla V100-SXM2-32GB", "sm_70"},
             Case{"Tesla P100-PCIE-16GB", "sm_60"},
             Case{"Tesla T4", "sm_75"},
             Case{"NVIDIA GB200", "sm_100"},
             Case{"NVIDIA RTX A6000", "sm_86"},
             Case{"NVIDIA GeForce RTX 4090", "sm_89"},
             Case{"NVIDIA RTX 6000 Ada Generation", "sm_89"},
             Case{"NVIDIA RTX 5000 Ada Generation", "sm_89"},
             Case{"NVIDIA RTX 4000 SFF Ada Generation", "sm_89"},
             Case{"Quadro RTX 5000", "sm_75"},
             Case{"Quadro RTX 4000", "sm_75"},
             Case{"NVIDIA GeForce RTX 5090", "sm_120"},
             Case{"NVIDIA RTX PRO 4500 Blackwell", "sm_120"},
             Case{"Quadro GV1", ""},
             Case{"NVIDIA A2000", ""},
         }) {
        CAPTURE(model);
        CHECK(sm_of_model(model) == sm);
    }
    CHECK(gfx_of_target_version(90010) == "gfx90a");
    CHECK(gfx_of_target_version(90402) == "gfx942");
    CHECK(gfx_of_target_version(100300) == "gfx1030");
    CHECK(gfx_of_target_version(90008) == "gfx908");
    CHECK(gfx_of_target_version(0) == "");
}

TEST_CASE(
    "a driver supports the CUDA it shipped with, and from a minimum version any CUDA of that major version") {
    CHECK(cuda_of_driver(*Dotted::parse("550.54.15"))->text() == "12.4");
    CHECK(cuda_of_driver(*Dotted::parse("550.54.14"))->text() == "12.4");
    CHECK(cuda_of_driver(*Dotted::parse("550.54.13"))->text() == "12.3");
    CHECK(cuda_of_driver(*Dotted::parse("535.129.03"))->text() == "12.2");
    CHECK(cuda_of_driver(*Dotted::parse("580.95.05"))->text() == "13.0");
    CHECK(cuda_of_driver(*Dotted::parse("999.1"))->text() == "13.1");
    CHECK(is_newer_than_known(*Dotted::parse("999.1")));
    CHECK_FALSE(is_newer_than_known(*Dotted::parse("590.48.01")));
    CHECK_FALSE(cuda_of_driver(*Dotted::parse("390.48")));
    CHECK(min_driver(*Dotted::parse("12.6"))->text() == "525.60.13");
    CHECK(min_driver(*Dotted::parse("11"))->text() == "450.80.2");
    CHECK_FALSE(min_driver(*Dotted::parse("10.2")));
}
