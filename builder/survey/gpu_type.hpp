// GPU models by the names that batch systems and drivers use. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::builder {

struct GpuType {
    std::string_view name;  // "a100"
    const accelerator::AcceleratorKind* kind = nullptr;
    std::string_view architecture;  // "sm_80", "gfx90a"
};

// "a100", "NVIDIA A100-SXM4-80GB", "tesla_v100-pcie", "MI250X". nullopt: not in the table.
[[nodiscard]] std::optional<GpuType> find_gpu_type(std::string_view text);

}  // namespace wheelyard::builder
