// Tables of GPUs and drivers.
#include "indexer/avail_wheels/node/gpu_rules.hpp"

#include <algorithm>
#include <array>

#include "lib/base/text/text.hpp"

namespace wheelyard::avail_wheels {

namespace {

// "sm_90a" and "compute_90a": 9, 0, 'a'.
struct Capability {
    int major = 0;
    int minor = 0;
    char suffix = 0;
};
std::optional<Capability> parse_capability(std::string_view text) {
    const auto underscore = text.find('_');
    if (underscore == std::string_view::npos) return std::nullopt;
    text.remove_prefix(underscore + 1);
    Capability capability;
    if (!text.empty() && !base::is_ascii_digit(text.back())) {
        capability.suffix = text.back();
        text.remove_suffix(1);
    }
    const auto number = base::parse_decimal(text);
    constexpr std::uint64_t min_number = 10;
    constexpr std::uint64_t max_number = 9999;
    if (!number || *number < min_number || *number > max_number) return std::nullopt;
    capability.major = static_cast<int>(*number / 10);
    capability.minor = static_cast<int>(*number % 10);
    return capability;
}

constexpr char exact_suffix = 'a';   // exactly this GPU
constexpr char family_suffix = 'f';  // this GPU's family

struct Model {
    std::string_view part;
    std::string_view sm;
};
// The first entry contained in the name wins, so longer names come before shorter ones. From NVIDIA's list of
// compute capabilities; limited to GPUs found in clusters and workstations.
constexpr std::array<Model, 35> models{{
    {"Ada Generation", "sm_89"},
    {"Quadro RTX", "sm_75"},
    {"GB300", "sm_103"},
    {"B300", "sm_103"},
    {"GB200", "sm_100"},
    {"B200", "sm_100"},
    {"GB10", "sm_121"},
    {"RTX PRO", "sm_120"},
    {"RTX 50", "sm_120"},
    {"GH200", "sm_90"},
    {"H200", "sm_90"},
    {"H100", "sm_90"},
    {"H800", "sm_90"},
    {"H20", "sm_90"},
    {"L40", "sm_89"},
    {"L20", "sm_89"},
    {"L4", "sm_89"},
    {"RTX 6000 Ada", "sm_89"},
    {"RTX 40", "sm_89"},
    {"A100", "sm_80"},
    {"A800", "sm_80"},
    {"A30", "sm_80"},
    {"A40", "sm_86"},
    {"A10", "sm_86"},
    {"A16", "sm_86"},
    {"A2", "sm_86"},
    {"RTX A", "sm_86"},
    {"RTX 30", "sm_86"},
    {"T4", "sm_75"},
    {"RTX 20", "sm_75"},
    {"V100", "sm_70"},
    {"P100", "sm_60"},
    {"P40", "sm_61"},
    {"P4", "sm_61"},
    {"K80", "sm_37"},
}};

// SPIR-V, which the runtime compiles for any GPU.
constexpr std::string_view portable_gfx = "amdgcnspirv";

struct GfxFamily {
    std::string_view generic;
    std::string_view members;
};
// "Generic processor" table of LLVM's User Guide for the AMDGPU backend.
constexpr std::array<GfxFamily, 6> gfx_families{{
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"},
    {"gfx12-generic", "gfx1200 gfx1201"},
}};

struct DriverRow {
    std::array<int, 2> cuda;
    std::array<int, 3> driver;  // the first Linux driver shipped with it
};
// CUDA Toolkit release notes, "CUDA Toolkit and corresponding driver versions", newest first.
constexpr std::array<DriverRow, 23> drivers{{
    {{13, 1}, {590, 44, 1}}, {{13, 0}, {580, 65, 6}}, {{12, 9}, {575, 51, 3}},  {{12, 8}, {570, 26, 0}},
    {{12, 6}, {560, 28, 3}}, {{12, 5}, {555, 42, 2}}, {{12, 4}, {550, 54, 14}}, {{12, 3}, {545, 23, 6}},
    {{12, 2}, {535, 54, 3}}, {{12, 1}, {530, 30, 2}}, {{12, 0}, {525, 60, 13}}, {{11, 8}, {520, 61, 5}},
    {{11, 7}, {515, 43, 4}}, {{11, 6}, {510, 39, 1}}, {{11, 5}, {495, 29, 5}},  {{11, 4}, {470, 42, 1}},
    {{11, 3}, {465, 19, 1}}, {{11, 2}, {460, 27, 3}}, {{11, 1}, {455, 23, 0}},  {{11, 0}, {450, 36, 6}},
    {{10, 2}, {440, 33, 0}}, {{10, 1}, {418, 39, 0}}, {{10, 0}, {410, 48, 0}},
}};
// "Minor version compatibility" starts with CUDA 11.
constexpr std::array<DriverRow, 3> min_drivers{{
    {{13, 0}, {580, 0, 0}},
    {{12, 0}, {525, 60, 13}},
    {{11, 0}, {450, 80, 2}},
}};

template <std::size_t Size>
Dotted dotted(const std::array<int, Size>& numbers) {
    return Dotted{{numbers.begin(), numbers.end()}};
}

// The part of "gfx90a:sramecc+:xnack-" before its features.
std::string_view processor_of(std::string_view gfx) {
    return gfx.substr(0, gfx.find(':'));
}

}  // namespace

bool cubin_runs(std::string_view cubin, std::string_view device) {
    const auto code = parse_capability(cubin);
    const auto gpu = parse_capability(device);
    if (!code || !gpu || code->major != gpu->major) return false;
    return code->suffix == exact_suffix ? code->minor == gpu->minor : gpu->minor >= code->minor;
}

bool ptx_runs(std::string_view ptx, std::string_view device) {
    const auto code = parse_capability(ptx);
    const auto gpu = parse_capability(device);
    if (!code || !gpu) return false;
    if (code->suffix == exact_suffix) return code->major == gpu->major && code->minor == gpu->minor;
    if (code->suffix == family_suffix) return code->major == gpu->major && gpu->minor >= code->minor;
    return gpu->major > code->major || (gpu->major == code->major && gpu->minor >= code->minor);
}

bool gfx_runs(std::string_view target, std::string_view device) {
    const auto processor = processor_of(target);
    const auto gpu = processor_of(device);
    if (processor == portable_gfx) return gpu.starts_with("gfx");
    const auto* family = std::find_if(gfx_families.begin(), gfx_families.end(),
                                      [&](const GfxFamily& one) { return one.generic == processor; });
    if (family != gfx_families.end()) {
        const auto members = base::split(family->members, ' ');
        if (std::find(members.begin(), members.end(), gpu) == members.end()) return false;
    } else if (processor != gpu) {
        return false;
    }
    const auto wanted = base::split(target, ':');
    const auto has = base::split(device, ':');
    return std::all_of(wanted.begin() + 1, wanted.end(), [&](std::string_view setting) {
        const auto name = setting.substr(0, setting.size() - 1);
        return std::all_of(has.begin() + 1, has.end(), [&](std::string_view other) {
            return other.substr(0, other.size() - 1) != name || other == setting;
        });
    });
}

std::string sm_of_capability(std::string_view capability) {
    const auto number = Dotted::parse(base::trim(capability));
    if (!number || number->numbers.size() != 2) return {};
    return "sm_" + std::to_string(number->numbers[0]) + std::to_string(number->numbers[1]);
}

std::string sm_of_model(std::string_view model) {
    const auto* found = std::find_if(models.begin(), models.end(), [&](const Model& one) {
        const auto at = model.find(one.part);
        if (at == std::string_view::npos) return false;
        // A digit must not follow: "A2" does not match "A2000", which is another model.
        const auto end = at + one.part.size();
        const bool ends_number = base::is_ascii_digit(one.part.back()) && !one.part.starts_with("RTX ");
        return !ends_number || end == model.size() || !base::is_ascii_digit(model[end]);
    });
    return found == models.end() ? std::string() : std::string(found->sm);
}

std::string gfx_of_target_version(std::uint64_t version) {
    // drivers/gpu/drm/amd/amdkfd: major * 10000 + minor * 100 + stepping; names write minor and stepping in
    // hex.
    constexpr std::uint64_t major_place = 10'000;
    constexpr std::uint64_t minor_place = 100;
    constexpr std::string_view digits = "0123456789abcdef";
    const auto minor = version / minor_place % minor_place;
    const auto stepping = version % minor_place;
    if (version < major_place || minor >= digits.size() || stepping >= digits.size()) return {};
    return "gfx" + std::to_string(version / major_place) + digits[minor] + digits[stepping];
}

std::optional<Dotted> cuda_of_driver(const Dotted& driver) {
    const auto* found = std::find_if(drivers.begin(), drivers.end(),
                                     [&](const DriverRow& row) { return driver >= dotted(row.driver); });
    if (found == drivers.end()) return std::nullopt;
    return dotted(found->cuda);
}

bool is_newer_than_known(const Dotted& driver) {
    return driver.at(0) > drivers.front().driver[0];
}

std::optional<Dotted> min_driver(const Dotted& cuda) {
    const auto* found = std::find_if(min_drivers.begin(), min_drivers.end(),
                                     [&](const DriverRow& row) { return row.cuda[0] == cuda.at(0); });
    if (found == min_drivers.end()) return std::nullopt;
    return dotted(found->driver);
}

}  // namespace wheelyard::avail_wheels
