// Everything that the programs know of one kind of accelerator: a row of the table in accelerator_kind.cpp.
// Each row lies in the file of its vendor; no other code compares the name of one.
//
//     accelerator.kind of site.toml ─┐                             ┌─► drafts, job scripts, files for users
//     an architecture: "sm_90" ──────┼─► AcceleratorKind, a row ───┼─► facts of wheels, library kinds, the web UI
//     a local version: "+cu126" ─────┘                             └─► whether a wheel runs on a node
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/text/dotted.hpp"

namespace wheelyard::accelerator {

// The GPUs and the driver of a host, and how a row of the table asks for them.
struct Gpus {
    std::vector<std::string> archs;  // "sm_90", "gfx90a:xnack-"; empty: the node has no GPU
    std::vector<std::string> names;  // "NVIDIA H100 80GB HBM3"
};

struct FoundGpus {
    std::optional<Gpus> gpus;            // absent: unknown
    std::optional<base::Dotted> driver;  // NVIDIA's, 550.54.15

    // Each architecture and name once; nothing if `arch` is empty.
    void add(const std::string& arch, std::string_view name);
};

// What a probe may use of a host. Tests give it folders and recorded output.
struct HostAccess {
    // The content of a file; empty: it cannot be read.
    std::function<std::string(const std::string& path)> read;
    // The paths of the entries of a folder, sorted.
    std::function<std::vector<std::string>(const std::string& folder)> list;
    // The output of a program of PATH; empty: there is none, or it failed or hung.
    std::function<std::string(std::vector<std::string> command)> run;
};

using Texts = std::span<const std::string_view>;

// The kind of a site's accelerator without GPUs, which has no row.
inline constexpr std::string_view cpu = "cpu";

// A name that batch systems and drivers use for a GPU, as one word in lower case.
struct GpuModel {
    std::string_view name;          // "a100"
    std::string_view architecture;  // "sm_80"
    std::string_view machine = {};  // the only one that has it, as `uname -m` says it; empty: any
};

// One list of device code in the facts of a wheel.
struct DeviceCode {
    std::string_view fact;   // "cuda_sm": the member of the facts
    std::string_view title;  // "CUDA code": of the registry's report
    std::string_view label;  // "CUDA code": on the web UI
    // The driver compiles it when it is loaded, so it names no GPU and needs a driver as new as its toolkit.
    bool is_portable = false;
    bool (*runs)(std::string_view code, std::string_view gpu) = nullptr;
    // The names of all code that runs on a GPU, without features (":xnack-"); only where it is not portable.
    std::vector<std::string> (*running)(std::string_view gpu) = nullptr;
    // How a wheel variant (PEP 825) promises it: "nvidia :: sm_arch :: 90_real" is "sm_90" here. Empty: in no
    // known way.
    std::string_view variant_namespace = {}, variant_feature = {}, variant_suffix = {}, variant_prefix = {};
};

// What answers for a node's properties of wheel variants (PEP 850); installers have it built in.
struct VariantProvider {
    std::string_view name_space = {};  // "nvidia"; empty: nothing answers
    std::string_view package = {};
    std::string_view plugin_api = {};
    // How it bounds the toolkit that the driver supports: 12.6 or newer ("nvidia :: cuda_version_lower_bound
    // :: 12.6"), or older than 13 (upper). Empty: in no known way.
    std::string_view lower_bound = {}, upper_bound = {};
};

// A driver and a release of the toolkit, as in the vendor's release notes.
struct DriverRow {
    std::array<int, 2> toolkit;
    std::array<int, 3> driver;
};

struct AcceleratorKind {
    std::string_view name;    // accelerator.kind in site.toml: "cuda"
    std::string_view vendor;  // "NVIDIA"
    std::string_view title;   // of the platform: "CUDA"

    // GPUs
    Texts architecture_prefixes;  // "sm_"
    std::string_view example;     // "sm_90"
    std::span<const GpuModel> models;
    // Says whether a policy may name this architecture. Called with one of these prefixes.
    bool (*is_architecture)(std::string_view text);
    // An architecture, or the name of a model, as Gpus::archs has it; empty: not of this kind.
    std::string (*parse_gpu)(std::string_view text);
    // Adds the GPUs of the host, and its driver. Kinds are asked in the order of the table.
    void (*probe)(const HostAccess& host, FoundGpus& found);
    std::string_view visible_devices;  // the variable that selects GPUs: "CUDA_VISIBLE_DEVICES"

    // Sites
    std::string_view list_gpus;  // a command that prints one name a line; prints nothing where there is none
    std::string_view show_driver;  // a command for the report of `site check`
    // Patterns of modules that provide the toolkit, the preferred one first; as those of
    // builder/survey/module_list.cpp.
    Texts modules;
    std::string_view label;          // of a drafted accelerator: "cu"
    bool is_label_versioned = true;  // "cu123"
    // "sm_90" → "9.0", as in the build's variable; nullptr: as it is.
    std::string (*architecture_flag)(std::string_view text) = nullptr;
    std::string_view flag_separator = ";";  // between these

    // PyTorch
    std::string_view torch_device;    // torch.device("cuda"), torch.cuda, torch::cuda
    std::string_view torch_constant;  // torch::kCUDA
    std::string_view torch_backend;   // of torch.distributed: "nccl"

    // Wheels What a local version says of the toolkit: "cu126" → "12.6"; empty: this kind, but not which;
    // nullopt: nothing.
    std::optional<std::string> (*toolkit_of_label)(std::string_view local);
    Texts toolkit_modules = {};             // whose version is the toolkit's: "cudacore"
    std::string_view toolkit_library = {};  // the same of a library: "libcudart.so."
    // Words of a local version that promise code or libraries, before a number; none: nothing is promised.
    Texts promising_words = {};
    std::string_view promise = {};        // "CUDA code or a dependency on a CUDA library"
    Texts libraries;                      // prefixes of file names: "libcudart"
    std::string_view library_kind;        // of these in `needed` of the facts: "cuda"
    bool is_library_kind_shared = false;  // with libraries of no accelerator, as Intel's for processors
    Texts dependents = {};                // prefixes: other libraries that only wheels for this kind need
    std::string_view elf_machine = {};    // of ELF files with device code
    std::span<const DeviceCode> device_code = {};  // empty: it is not read
    VariantProvider variant_provider = {};
    std::string_view unread_sections = {};  // prefix of sections with device code that is not read

    // Newest first: the first driver that was shipped with each toolkit, and the oldest that runs programs of
    // a toolkit's major version. Empty: no rule is known.
    std::span<const DriverRow> drivers = {};
    std::span<const DriverRow> min_drivers = {};
};

[[nodiscard]] std::span<const AcceleratorKind* const> accelerator_kinds();
// nullptr: there is none of this name ("cpu").
[[nodiscard]] const AcceleratorKind* find_accelerator_kind(std::string_view name);
// "sm_90" → the row of CUDA; nullptr: none has such architectures.
[[nodiscard]] const AcceleratorKind* kind_of_architecture(std::string_view architecture);
// The row of a library by its file name; nullptr: no accelerator's.
[[nodiscard]] const AcceleratorKind* kind_of_library(std::string_view library);

// The row that has this bound of a wheel variant; nullptr: none.
[[nodiscard]] const AcceleratorKind* kind_of_bound(std::string_view name_space, std::string_view feature);

// The toolkit's version in that of its module: "24.11_12.6" → "12.6", CUDA of HPE's cudatoolkit, whose first
// part is the HPC SDK.
[[nodiscard]] std::string_view toolkit_version(std::string_view module_version);

// The toolkit's version, "12.2", in modules such as "cuda/12.2" and "cudacore/12.2.2"; empty: there is none.
[[nodiscard]] std::string toolkit_of_modules(const AcceleratorKind& kind,
                                             const std::vector<std::string>& modules);
// The same in needed libraries: "libcudart.so.12" → "12".
[[nodiscard]] std::string toolkit_of_libraries(const AcceleratorKind& kind,
                                               const std::vector<std::string>& libraries);

// The values of accelerator.kind: "cpu", "cuda", …
[[nodiscard]] std::vector<std::string> accelerator_names();
// Says whether `text` is a GPU architecture as policies name it: "sm_90", "gfx90a", "gfx90a:sramecc+:xnack-".
[[nodiscard]] bool is_gpu_architecture(std::string_view text);
// The names of code that runs on a GPU, without what a driver has to compile: "sm_90" → "sm_90", "sm_90f",
// "sm_90a".
[[nodiscard]] std::vector<std::string> code_running_on(std::string_view architecture);
// Each row by this pattern, which may have {name} and {example}: ("`{name}`", " or ") → "`cuda` or `rocm`".
[[nodiscard]] std::string list_kinds(std::string_view pattern, std::string_view before_last);

// The newest toolkit that the driver supports; nullopt: older than the table.
[[nodiscard]] std::optional<base::Dotted> toolkit_of_driver(const AcceleratorKind& kind,
                                                            const base::Dotted& driver);
// Says whether the driver's branch is newer than the table: it may support a newer toolkit than
// toolkit_of_driver() says.
[[nodiscard]] bool is_newer_than_known(const AcceleratorKind& kind, const base::Dotted& driver);
// The oldest driver that runs programs of this toolkit's major version at all; nullopt: not in the table.
[[nodiscard]] std::optional<base::Dotted> min_driver(const AcceleratorKind& kind,
                                                     const base::Dotted& toolkit);

}  // namespace wheelyard::accelerator
