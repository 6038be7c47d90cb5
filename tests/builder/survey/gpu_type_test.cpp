// Checks which type of GPU a survey names.
#include "builder/survey/survey.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("a GPU is known by the names that Slurm, PBS and drivers use; a part of a word is no name") {
    const std::pair<const char*, const char*> rows[] = {
        {"a100", "sm_80"},
        {"NVIDIA A100-SXM4-80GB", "sm_80"},
        {"tesla_v100-pcie", "sm_70"},
        {"NVIDIA GH200 480GB", "sm_90"},
        {"NVIDIA H100 80GB HBM3", "sm_90"},
        {"L40S", "sm_89"},
        {"MI250X", "gfx90a"},
        {"AMD Instinct MI300A", "gfx942"},
        {"pvc", "pvc"},
        {"Max1550", "pvc"},
        {"a1000", ""},
        {"data100", ""},
        {"", ""},
        {"(null)", ""},
        {"gpu", ""},
    };
    for (const auto& [text, architecture] : rows) {
        CAPTURE(text);
        const auto type = find_gpu_type(text);
        CHECK((type ? type->architecture : "") == architecture);
    }
}

}  // namespace
}  // namespace wheelyard::builder
