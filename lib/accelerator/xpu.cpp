// The row of XPU. Its facts are from public sources, each named beside it; none was checked on such a
// machine.
#include "lib/accelerator/xpu.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::accelerator::xpu {
namespace {

constexpr std::string_view pvc = "pvc";  // Data Center GPU Max, once Ponte Vecchio: Aurora, Dawn

// Linux, include/drm/intel/pciids.h: INTEL_PVC_IDS.
constexpr unsigned pvc_devices[] = {0x0b69, 0x0b6e, 0x0bd4, 0x0bd5, 0x0bd6, 0x0bd7, 0x0bd8,
                                    0x0bd9, 0x0bda, 0x0bdb, 0x0be0, 0x0be1, 0x0be5};
// Names of `ocloc compile -device`, which TORCH_XPU_ARCH_LIST takes: torch-xpu-ops, cmake/BuildFlags.cmake
// (pvc,bmg,dg2,arl-h,mtl-h,lnl-m,ptl-h,ptl-u); ats-m150 in PyTorch's setup.py.
constexpr std::string_view architecture_prefixes[] = {pvc, "bmg", "dg2", "ats-m", "arl", "mtl", "lnl", "ptl"};

bool is_architecture(std::string_view text) {
    const std::string_view family = text.substr(0, text.find('-'));
    return std::any_of(
               std::begin(architecture_prefixes), std::end(architecture_prefixes),
               [&](std::string_view prefix) { return prefix.substr(0, prefix.find('-')) == family; }) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return base::is_ascii_digit(c) || (c >= 'a' && c <= 'z') || c == '-'; });
}

std::string parse_gpu(std::string_view text) {
    if (is_architecture(text)) return std::string(text);
    constexpr std::string_view max_series = "GPU Max";  // "Intel(R) Data Center GPU Max 1550"
    return text.find(max_series) == std::string_view::npos ? std::string() : std::string(pvc);
}

// The kernel's DRM devices: an integrated GPU has the same vendor. xpu-smi is the last resort.
void probe(const HostAccess& host, FoundGpus& found) {
    constexpr std::string_view intel = "0x8086";
    bool has_any = false;
    for (const std::string& entry : host.list("/sys/class/drm")) {
        const std::string_view name = base::base_name(entry);
        if (!name.starts_with("card") || name.find('-') != std::string_view::npos)
            continue;  // card0-DP-1: a connector
        const std::string vendor = host.read(entry + "/device/vendor");
        if (base::trim(vendor) != intel) continue;
        const std::string device = host.read(entry + "/device/device");
        const std::string_view arch = architecture_of_device(base::trim(device));
        has_any = has_any || !arch.empty();
        found.add(std::string(arch), {});
    }
    if (!has_any && !found.gpus) read_xpu_smi(host.run({"xpu-smi", "discovery", "-j"}), found);
}

// PyTorch's index is plain `xpu`, and so is the local version of its wheels: 2.12.0+xpu. They require the
// libraries of one oneAPI release as wheels (intel-sycl-rt==2025.0.2: PyTorch's
// generate_binary_build_matrix.py), so it is not in the label.
std::optional<std::string> toolkit_of_label(std::string_view local) {
    const auto parts = base::split(local, '.');
    const bool is_named = std::find(parts.begin(), parts.end(), std::string_view("xpu")) != parts.end();
    return is_named ? std::optional(std::string()) : std::nullopt;
}

constexpr GpuModel gpu_models[] = {{"pvc", pvc}, {"max1550", pvc}, {"max1100", pvc}};
// Aurora: oneapi/release/2025.0.5; Dawn (Spack): intel-oneapi-compilers/2024.0.0/gcc/znjudqsi.
constexpr std::string_view modules[] = {"oneapi/release", "oneapi", "intel-oneapi-compilers",
                                        "intel-oneapi-compilers/*"};
// The runtime of SYCL (libsycl.so.8 of oneAPI 2025, .so.9 of 2026), its adapters, and Level Zero's loader and
// driver.
constexpr std::string_view libraries[] = {
    "libsycl.so",          "libsycl-",        "libur_loader.so", "libur_adapter_",
    "libpi_level_zero.so", "libpi_opencl.so", "libze_loader.so", "libze_intel_gpu.so"};

}  // namespace

constexpr AcceleratorKind kind = {
    .name = "xpu",
    .vendor = "Intel",
    .title = "oneAPI",
    .architecture_prefixes = architecture_prefixes,
    .example = pvc,
    .models = gpu_models,
    .is_architecture = is_architecture,
    .parse_gpu = parse_gpu,
    .probe = probe,
    .visible_devices = "ZE_AFFINITY_MASK",  // Level Zero's specification
    .list_gpus = "xpu-smi discovery 2> /dev/null | sed -n 's/.*Data Center GPU Max \\([0-9]*\\).*/Max\\1/p'",
    .show_driver = "xpu-smi discovery --dump 2,8",  // Device Name, Driver Version
    .modules = modules,
    .label = "xpu",
    .is_label_versioned = false,
    .flag_separator = ",",
    .torch_device = "xpu",
    .torch_constant = "kXPU",
    .torch_backend = "xccl",
    .toolkit_of_label = toolkit_of_label,
    // Nothing is promised: wheels for XPU, such as torchvision's, may have code for the host only.
    .libraries = libraries,
    .library_kind = "intel",
    .is_library_kind_shared = true,
    // clang-offload-wrapper: __CLANG_OFFLOAD_BUNDLE__sycl-spir64 (compiled by the driver), …-spir64_gen (for
    // some GPUs).
    .elf_machine = "intelgt",
    .unread_sections = "__CLANG_OFFLOAD_BUNDLE__sycl-",
    // Level Zero's loader requires compute runtime 21.09.19150 (its release notes), which is older than these
    // GPUs. No table of oneAPI releases and drivers is known, so there is no rule.
};

std::string_view architecture_of_device(std::string_view pci_id) {
    constexpr std::string_view hexadecimal = "0x";
    if (!pci_id.starts_with(hexadecimal)) return {};
    pci_id.remove_prefix(hexadecimal.size());
    unsigned id = 0;
    const auto [end, error] = std::from_chars(pci_id.data(), pci_id.data() + pci_id.size(), id, 16);
    if (error != std::errc() || end != pci_id.data() + pci_id.size()) return {};
    return std::find(std::begin(pvc_devices), std::end(pvc_devices), id) == std::end(pvc_devices) ? "" : pvc;
}

void read_xpu_smi(std::string_view text, FoundGpus& found) {
    const auto json = io::parse_json(text);
    if (!json) return;
    const auto* listed = json->find("device_list");
    if (listed == nullptr) return;
    for (const auto& gpu : listed->items()) {
        const std::string_view arch = architecture_of_device(gpu.string_or("pci_device_id", {}));
        found.add(std::string(arch), gpu.string_or("device_name", {}));
    }
}

}  // namespace wheelyard::accelerator::xpu
