#include "builder/survey/gpu_type.hpp"

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// Sources: NVIDIA's "CUDA GPU Compute Capability"; AMD's ROCm "Accelerator and GPU hardware specifications".
constexpr GpuType types[] = {
    {"gb200", "cuda", "sm_100"},  {"b200", "cuda", "sm_100"},   {"gh200", "cuda", "sm_90"},
    {"h200", "cuda", "sm_90"},    {"h100", "cuda", "sm_90"},    {"l40s", "cuda", "sm_89"},
    {"l40", "cuda", "sm_89"},     {"l4", "cuda", "sm_89"},      {"a100", "cuda", "sm_80"},
    {"a800", "cuda", "sm_80"},    {"a30", "cuda", "sm_80"},     {"a40", "cuda", "sm_86"},
    {"a10", "cuda", "sm_86"},     {"a6000", "cuda", "sm_86"},   {"a5000", "cuda", "sm_86"},
    {"t4", "cuda", "sm_75"},      {"v100", "cuda", "sm_70"},    {"v100s", "cuda", "sm_70"},
    {"p100", "cuda", "sm_60"},    {"p40", "cuda", "sm_61"},     {"mi300x", "rocm", "gfx942"},
    {"mi300a", "rocm", "gfx942"}, {"mi325x", "rocm", "gfx942"}, {"mi250x", "rocm", "gfx90a"},
    {"mi250", "rocm", "gfx90a"},  {"mi210", "rocm", "gfx90a"},  {"mi200", "rocm", "gfx90a"},
    {"mi100", "rocm", "gfx908"},
};

}  // namespace

std::optional<GpuType> find_gpu_type(std::string_view text) {
    const std::string lower = base::ascii_lower(text);
    for (std::size_t begin = 0; begin < lower.size();) {
        std::size_t end = begin;
        while (end < lower.size() && base::is_ascii_alnum(lower[end]))
            ++end;
        const auto word = std::string_view(lower).substr(begin, end - begin);
        for (const GpuType& type : types) {
            if (word == type.name) return type;
        }
        begin = end + 1;
    }
    return std::nullopt;
}

}  // namespace wheelyard::builder
