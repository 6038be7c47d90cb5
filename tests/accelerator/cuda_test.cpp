#include "lib/accelerator/cuda.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using namespace wheelyard::accelerator::cuda;
using accelerator::FoundGpus;

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

TEST_CASE("GPU architectures are derived from capability and model") {
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
}

TEST_CASE(
    "a driver supports the CUDA it shipped with, and from a minimum version any CUDA of that major version") {
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("550.54.15"))->text() == "12.4");
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("550.54.14"))->text() == "12.4");
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("550.54.13"))->text() == "12.3");
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("535.129.03"))->text() == "12.2");
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("580.95.05"))->text() == "13.0");
    CHECK(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("999.1"))->text() == "13.1");
    CHECK(accelerator::is_newer_than_known(kind, *base::Dotted::parse("999.1")));
    CHECK_FALSE(accelerator::is_newer_than_known(kind, *base::Dotted::parse("590.48.01")));
    CHECK_FALSE(accelerator::toolkit_of_driver(kind, *base::Dotted::parse("390.48")));
    CHECK(accelerator::min_driver(kind, *base::Dotted::parse("12.6"))->text() == "525.60.13");
    CHECK(accelerator::min_driver(kind, *base::Dotted::parse("11"))->text() == "450.80.2");
    CHECK_FALSE(accelerator::min_driver(kind, *base::Dotted::parse("10.2")));
}

TEST_CASE("if an old nvidia-smi lacks compute_cap, the model is used") {
    FoundGpus node;
    read_nvidia_smi("Tesla V100-SXM2-32GB, [N/A], 470.57.02\n", node);
    CHECK(node.gpus->archs == std::vector<std::string>{"sm_70"});
    FoundGpus broken;
    read_nvidia_smi("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
                    broken);
    CHECK_FALSE(broken.gpus);
    CHECK_FALSE(broken.driver);
}

TEST_CASE("nvidia-smi output of various nodes and its errors are parsed") {
    struct Case {
        const char* text;
        std::vector<std::string> archs;  // empty: GPUs unknown
        const char* driver;              // "": unknown
    };
    for (const auto& [text, archs, driver] : {
             Case{"NVIDIA A100-SXM4-40GB, 8.0, 535.129.03\n", {"sm_80"}, "535.129.3"},
             Case{"NVIDIA H100 80GB HBM3, 9.0, 550.54.15\nNVIDIA H100 80GB HBM3, 9.0, 550.54.15\n",
                  {"sm_90"},
                  "550.54.15"},
             Case{"Tesla V100-SXM2-16GB, 7.0, 470.82.01\nNVIDIA A100-PCIE-40GB, 8.0, 470.82.01\n",
                  {"sm_70", "sm_80"},
                  "470.82.1"},
             Case{"NVIDIA B200, 10.0, 570.124.06\n", {"sm_100"}, "570.124.6"},
             Case{"Tesla P100-PCIE-12GB, [N/A], 450.80.02\n",
                  {"sm_60"},
                  "450.80.2"},  // capability not reported
             Case{"NVIDIA Something New, 12.1, 580.65.06\r\n", {"sm_121"}, "580.65.6"},
             Case{"NVIDIA Something New, [N/A], 580.65.06\n", {}, "580.65.6"},
             Case{"", {}, ""},
             Case{"No devices were found\n", {}, ""},
             Case{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure "
                  "that the "
                  "latest NVIDIA driver is installed and running.\n",
                  {},
                  ""},
             Case{
                 "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54\n",
                 {},
                 ""},
             Case{"Field \"compute_cap\" is not a valid field to query.\n", {}, ""},
             Case{"Unable to determine the device handle for GPU 0000:41:00.0: Unknown Error\n"
                  "NVIDIA A100-SXM4-40GB, 8.0, 550.54.15\n",
                  {"sm_80"},
                  "550.54.15"},
             Case{"[GPU is lost], [GPU is lost], [GPU is lost]\nNVIDIA A40, 8.6, 550.54.15\n",
                  {"sm_86"},
                  "550.54.15"},
         }) {
        CAPTURE(text);
        FoundGpus node;
        read_nvidia_smi(text, node);
        CHECK((node.gpus ? node.gpus->archs : std::vector<std::string>()) == archs);
        CHECK((node.driver ? node.driver->text() : "") == std::string(driver));
    }
}

TEST_CASE("the kernel module names its driver, also the open one under another name") {
    CHECK(driver_of_proc(
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 18:56:32 UTC 2023")
              ->text() == "535.129.3");
    CHECK(driver_of_proc("NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  570.26.01  Release Build")
              ->text() == "570.26.1");
    CHECK_FALSE(driver_of_proc("hello 1.2"));
}
