// The row of ROCm.
#include "lib/accelerator/rocm.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::accelerator::rocm {
namespace {

// SPIR-V, which the runtime compiles for any GPU.
constexpr std::string_view portable_gfx = "amdgcnspirv";

struct GfxFamily {
    std::string_view generic;
    std::string_view members;
};
// "Generic processor" table of LLVM's User Guide for the AMDGPU backend.
constexpr std::array<GfxFamily, 7> gfx_families{{
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153"},
    {"gfx12-generic", "gfx1200 gfx1201"},
    {"gfx12-5-generic", "gfx1250 gfx1251"},
}};

// The part of "gfx90a:sramecc+:xnack-" before its features.
std::string_view processor_of(std::string_view gfx) {
    return gfx.substr(0, gfx.find(':'));
}

// Converts amd-smi's name to the compilers' "gfx90a". Before ROCm 6.4, amd-smi wrote the stepping as two
// decimal digits: gfx9010 is gfx90a. Empty: not a name ("N/A").
std::string gfx_of_smi(std::string_view name) {
    constexpr std::string_view mark = "gfx";
    constexpr std::size_t digits_of_gfx9 = 3;
    if (!name.starts_with(mark) || name.size() == mark.size()) return {};
    const auto rest = name.substr(mark.size());
    if (!std::all_of(rest.begin(), rest.end(), base::is_ascii_alnum)) return {};
    const std::size_t usual = rest.front() == '9' ? digits_of_gfx9 : digits_of_gfx9 + 1;
    const auto number = base::parse_decimal(rest);
    if (!number || rest.size() != usual + 1) return std::string(name);
    constexpr std::uint64_t behind_major = 1000;  // one digit of the minor version, two of the stepping
    return gfx_of_target_version(*number / behind_major * 10'000 + *number % behind_major);
}

void probe(const HostAccess& host, FoundGpus& found) {
    constexpr std::string_view key = "gfx_target_version ";
    bool has_any = false;
    for (const std::string& folder : host.list("/sys/class/kfd/kfd/topology/nodes")) {
        const std::string text = host.read(folder + "/properties");
        for (const auto line : base::split_lines(text)) {
            if (!line.starts_with(key)) continue;
            const auto version = base::parse_decimal(base::trim(line.substr(key.size())));
            const std::string arch = version ? gfx_of_target_version(*version) : std::string();
            has_any = has_any || !arch.empty();
            found.add(arch, {});
        }
    }
    if (has_any) return;
    read_rocminfo(host.run({"rocminfo"}), found);
    if (found.gpus) return;
    // amd-smi is the last resort: a Python program that takes a second to start and reports no features
    // (xnack).
    read_amd_smi(host.run({"amd-smi", "static", "--asic", "--json"}), found);
}

constexpr std::string_view gfx = "gfx";

bool is_architecture(std::string_view text) {
    const auto parts = base::split(text, ':');
    const std::string_view processor = parts.front().substr(gfx.size());
    return processor.size() >= 3 &&
           std::all_of(processor.begin(), processor.end(),
                       [](char c) { return base::is_ascii_digit(c) || (c >= 'a' && c <= 'f'); }) &&
           std::all_of(parts.begin() + 1, parts.end(), [](std::string_view feature) {
               return feature == "xnack+" || feature == "xnack-" || feature == "sramecc+" ||
                      feature == "sramecc-";
           });
}

std::string parse_gpu(std::string_view text) {
    constexpr std::size_t shortest = std::string_view("gfx900").size();
    return text.starts_with(gfx) && text.size() >= shortest ? std::string(text) : std::string();
}

std::optional<std::string> toolkit_of_label(std::string_view local) {
    constexpr std::string_view rocm = "rocm";
    if (!local.starts_with(rocm) || local == rocm) return std::nullopt;
    return std::string(local.substr(rocm.size()));
}

// Source: AMD's ROCm "Accelerator and GPU hardware specifications".
constexpr GpuModel gpu_models[] = {
    {"mi300x", "gfx942"}, {"mi300a", "gfx942"}, {"mi325x", "gfx942"}, {"mi250x", "gfx90a"},
    {"mi250", "gfx90a"},  {"mi210", "gfx90a"},  {"mi200", "gfx90a"},  {"mi100", "gfx908"},
};

constexpr std::string_view architecture_prefixes[] = {gfx};
constexpr std::string_view modules[] = {"rocm"};
constexpr std::string_view promising_words[] = {"rocm"};
// torch's own, and Cray MPICH's GPU transport layer.
constexpr std::string_view dependents[] = {"libc10_hip", "libtorch_hip", "libmpi_gtl_hsa"};
// ROCm's runtime, compiler support and libraries.
constexpr std::string_view libraries[] = {
    "libamdhip64",    "libamd_comgr", "libamd_smi",   "libhip",       "libhsa-runtime64", "libhsakmt",
    "libMIOpen",      "libmigraphx",  "librccl",      "librocblas",   "librocfft",        "librocm",
    "librocprofiler", "librocrand",   "librocsolver", "librocsparse", "libroctracer64",   "libroctx64"};

std::vector<std::string> code_objects_running_on(std::string_view device) {
    std::vector<std::string> names{std::string(processor_of(device)), std::string(portable_gfx)};
    for (const GfxFamily& family : gfx_families) {
        if (gfx_runs(family.generic, device)) names.emplace_back(family.generic);
    }
    return names;
}

constexpr DeviceCode device_code[] = {
    {.fact = "hip_gfx",
     .title = "HIP code",
     .label = "ROCm code",
     .runs = gfx_runs,
     .running = code_objects_running_on},
};

}  // namespace

constexpr AcceleratorKind kind = {
    .name = "rocm",
    .vendor = "AMD",
    .title = "ROCm",
    .architecture_prefixes = architecture_prefixes,
    .example = "gfx90a",
    .models = gpu_models,
    .is_architecture = is_architecture,
    .parse_gpu = parse_gpu,
    .probe = probe,
    .visible_devices = "ROCR_VISIBLE_DEVICES",
    .list_gpus = "rocm-smi --showproductname 2> /dev/null | sed -n 's/.*Card [Ss]eries: *//p'",
    .show_driver = "rocm-smi --showdriverversion --showproductname",
    .modules = modules,
    .label = "rocm",
    .torch_device = "cuda",  // torch for ROCm keeps the names of CUDA
    .torch_constant = "kCUDA",
    .torch_backend = "nccl",
    .toolkit_of_label = toolkit_of_label,
    .promising_words = promising_words,
    .promise = "HIP code or a dependency on a ROCm library",
    .libraries = libraries,
    .library_kind = "rocm",
    .dependents = dependents,
    .elf_machine = "amdgpu",
    .device_code = device_code,
};

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

void read_rocminfo(std::string_view text, FoundGpus& found) {
    constexpr std::string_view isa = "amdgcn-amd-amdhsa--";
    std::string_view marketing;
    for (const auto line : base::split_lines(text)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const auto key = base::trim(line.substr(0, colon));
        const auto value = base::trim(line.substr(colon + 1));
        if (key == "Marketing Name") marketing = value;
        if (key != "Name" || !value.starts_with(isa)) continue;
        const auto arch = value.substr(isa.size());
        // The same agent also lists the generic target of its family.
        if (arch.find("generic") == std::string_view::npos) found.add(std::string(arch), marketing);
    }
}

void read_amd_smi(std::string_view text, FoundGpus& found) {
    while (!text.empty() && text.front() != '{' && text.front() != '[') {
        const auto end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    const auto json = io::parse_json(text);
    if (!json) return;
    const auto* listed = json->as_array() != nullptr ? &*json : json->find("gpu_data");
    if (listed == nullptr) return;
    for (const auto& gpu : listed->items()) {
        const auto* asic = gpu.find("asic");
        if (asic == nullptr) continue;
        const std::string name = asic->string_or("market_name", {});
        found.add(gfx_of_smi(asic->string_or("target_graphics_version", {})), name == "N/A" ? "" : name);
    }
}

}  // namespace wheelyard::accelerator::rocm
