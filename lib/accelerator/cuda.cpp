// The row of CUDA.
#include "lib/accelerator/cuda.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::accelerator::cuda {
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

// CUDA Toolkit release notes, "CUDA Toolkit and corresponding driver versions", newest first: the first Linux
// driver shipped with each.
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

void probe(const HostAccess& host, FoundGpus& found) {
    constexpr std::string_view model_key = "Model:";
    found.driver = driver_of_proc(host.read("/proc/driver/nvidia/version"));
    read_nvidia_smi(
        host.run({"nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"}),
        found);
    if (found.gpus) return;
    for (const std::string& gpu : host.list("/proc/driver/nvidia/gpus")) {
        const std::string text = host.read(gpu + "/information");
        for (const auto line : base::split_lines(text)) {
            if (!line.starts_with(model_key)) continue;
            const auto model = base::trim(line.substr(model_key.size()));
            found.add(sm_of_model(model), model);
        }
    }
}

constexpr std::string_view sm = "sm_";

bool is_architecture(std::string_view text) {
    const auto number = base::parse_decimal(text.substr(sm.size()));
    return number && *number >= 10;
}

std::string parse_gpu(std::string_view text) {
    if (text.starts_with(sm) && text.size() > sm.size() && base::is_ascii_digit(text[sm.size()]))
        return std::string(text);
    const std::string named = sm_of_capability(text);
    return named.empty() ? sm_of_model(text) : named;
}

// "sm_90" → "9.0", the notation of TORCH_CUDA_ARCH_LIST.
std::string architecture_flag(std::string_view architecture) {
    std::string digits(architecture.substr(std::min(architecture.size(), sm.size())));
    std::size_t end = 0;
    while (end < digits.size() && base::is_ascii_digit(digits[end]))
        ++end;
    if (end < 2) return digits;
    return digits.substr(0, end - 1) + "." + digits.substr(end - 1);
}

// "cu126" → 12.6, "cu118" → 11.8, "cuda12" → 12: labels of torch, jax and others.
std::optional<std::string> toolkit_of_part(std::string_view part) {
    for (const std::string_view start : {"cuda", "cu"}) {
        if (!part.starts_with(start)) continue;
        const auto digits = part.substr(start.size());
        const auto number = base::parse_decimal(digits);
        if (!number) return std::nullopt;
        if (digits.size() <= 2) return std::to_string(*number);
        constexpr std::size_t max_label = 4;
        if (digits.size() > max_label) return std::nullopt;
        return std::to_string(*number / 10) + "." + std::to_string(*number % 10);
    }
    return std::nullopt;
}

std::optional<std::string> toolkit_of_label(std::string_view local) {
    for (const auto part : base::split(local, '.')) {
        if (auto toolkit = toolkit_of_part(part)) return toolkit;
    }
    return std::nullopt;
}

// Source: NVIDIA's "CUDA GPU Compute Capability".
constexpr std::string_view aarch64 = "aarch64";
constexpr GpuModel gpu_models[] = {
    {"gb200", "sm_100", aarch64},
    {"gh200", "sm_90", aarch64},
    {"b200", "sm_100"},
    {"h100", "sm_90"},
    {"h200", "sm_90"},
    {"l40s", "sm_89"},
    {"l40", "sm_89"},
    {"l4", "sm_89"},
    {"a100", "sm_80"},
    {"a800", "sm_80"},
    {"a30", "sm_80"},
    {"a40", "sm_86"},
    {"a10", "sm_86"},
    {"a6000", "sm_86"},
    {"a5000", "sm_86"},
    {"t4", "sm_75"},
    {"v100", "sm_70"},
    {"v100s", "sm_70"},
    {"p100", "sm_60"},
    {"p40", "sm_61"},
};

constexpr std::string_view architecture_prefixes[] = {sm};
constexpr std::string_view modules[] = {"cuda", "cudatoolkit", "cuda-toolkit"};
// "nvhpc/23.9" does not determine a CUDA version.
constexpr std::string_view toolkit_modules[] = {"cuda", "cudacore", "cudatoolkit"};
constexpr std::string_view promising_words[] = {"cu", "cuda"};
// torch's own, and Cray MPICH's GPU transport layer.
constexpr std::string_view dependents[] = {"libc10_cuda", "libtorch_cuda", "libmpi_gtl_cuda"};
// The driver, the toolkit and NVIDIA's other libraries.
constexpr std::string_view libraries[] = {
    "libcuda.so", "libcudart",   "libcublas",     "libcudnn",  "libcufft",       "libcufile",
    "libcurand",  "libcusolver", "libcusparse",   "libcupti",  "libcudss",       "libcutensor",
    "libcuinj64", "libnccl",     "libnpp",        "libnvblas", "libnvcomp",      "libnvfatbin",
    "libnvidia-", "libnvinfer",  "libnvJitLink",  "libnvjpeg", "libnvperf",      "libnvptxcompiler",
    "libnvrtc",   "libnvshmem",  "libnvToolsExt", "libnvvm",   "libnvonnxparser"};

std::vector<std::string> cubins_running_on(std::string_view device) {
    std::vector<std::string> names;
    const auto gpu = parse_capability(device);
    if (!gpu) return names;
    for (int minor = 0; minor <= gpu->minor; ++minor) {
        const std::string plain = std::string(sm) + std::to_string(gpu->major) + std::to_string(minor);
        for (const std::string& name : {plain, plain + family_suffix, plain + exact_suffix}) {
            if (cubin_runs(name, device)) names.push_back(name);
        }
    }
    return names;
}

constexpr DeviceCode device_code[] = {
    {.fact = "cuda_sm",
     .title = "CUDA code",
     .label = "CUDA code",
     .runs = cubin_runs,
     .running = cubins_running_on,
     .variant_namespace = "nvidia",
     .variant_feature = "sm_arch",
     .variant_suffix = "_real",
     .variant_prefix = "sm_"},
    {.fact = "cuda_ptx",
     .title = "CUDA PTX",
     .label = "PTX",
     .is_portable = true,
     .runs = ptx_runs,
     .variant_namespace = "nvidia",
     .variant_feature = "sm_arch",
     .variant_suffix = "_virtual",
     .variant_prefix = "compute_"},
};

}  // namespace

constexpr AcceleratorKind kind = {
    .name = "cuda",
    .vendor = "NVIDIA",
    .title = "CUDA",
    .architecture_prefixes = architecture_prefixes,
    .example = "sm_90",
    .models = gpu_models,
    .is_architecture = is_architecture,
    .parse_gpu = parse_gpu,
    .probe = probe,
    .visible_devices = "CUDA_VISIBLE_DEVICES",
    .list_gpus = "nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null",
    .show_driver = "nvidia-smi --query-gpu=name,driver_version --format=csv,noheader",
    .modules = modules,
    .label = "cu",
    .architecture_flag = architecture_flag,
    .torch_device = "cuda",
    .torch_constant = "kCUDA",
    .torch_backend = "nccl",
    .toolkit_of_label = toolkit_of_label,
    .toolkit_modules = toolkit_modules,
    // Other libraries (libcudnn.so.9, libcufft.so.11) have version numbers of their own.
    .toolkit_library = "libcudart.so.",
    .promising_words = promising_words,
    .promise = "CUDA code or a dependency on a CUDA library",
    .libraries = libraries,
    .library_kind = "cuda",
    .dependents = dependents,
    .elf_machine = "cuda",
    .device_code = device_code,
    .variant_provider = {.name_space = "nvidia",
                         .package = "nvidia-variant-provider",
                         .plugin_api = "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
                         .lower_bound = "cuda_version_lower_bound",
                         .upper_bound = "cuda_version_upper_bound"},
    .drivers = drivers,
    .min_drivers = min_drivers,
};

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

std::string sm_of_capability(std::string_view capability) {
    const auto number = base::Dotted::parse(base::trim(capability));
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

void read_nvidia_smi(std::string_view text, FoundGpus& found) {
    constexpr std::size_t fields = 3;
    for (const auto line : base::split_lines(text)) {
        const auto parts = base::split(line, ',');
        if (parts.size() != fields) continue;
        const auto driver = base::Dotted::parse(base::trim(parts[2]));
        if (!driver) continue;
        found.driver = driver;
        // Drivers before 510 do not support compute_cap and print "[N/A]" or an error.
        std::string arch = sm_of_capability(base::trim(parts[1]));
        const auto name = base::trim(parts[0]);
        if (arch.empty()) arch = sm_of_model(name);
        found.add(arch, name);
    }
}

std::optional<base::Dotted> driver_of_proc(std::string_view text) {
    for (const auto line : base::split_lines(text)) {
        if (!line.starts_with("NVRM version:")) continue;
        for (const auto word : base::split(line, ' ')) {
            // "550.54.15" is the only word with dots; neither the machine nor the date has any.
            auto version = base::Dotted::parse(word);
            if (version && version->numbers.size() >= 2) return version;
        }
    }
    return std::nullopt;
}

}  // namespace wheelyard::accelerator::cuda
