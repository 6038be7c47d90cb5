// The table of accelerators.
#include "lib/accelerator/accelerator_kind.hpp"

#include <algorithm>

#include "lib/accelerator/cuda.hpp"
#include "lib/accelerator/rocm.hpp"
#include "lib/accelerator/xpu.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::accelerator {
namespace {

constexpr std::array kinds = {&cuda::kind, &rocm::kind, &xpu::kind};

const AcceleratorKind* find_kind(const auto& is_it) {
    const auto* found =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto* one) { return is_it(*one); });
    return found == kinds.end() ? nullptr : *found;
}

bool starts_with_one(std::string_view text, Texts prefixes) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [&](std::string_view prefix) { return text.starts_with(prefix); });
}

template <std::size_t Size>
base::Dotted dotted(const std::array<int, Size>& numbers) {
    return base::Dotted{{numbers.begin(), numbers.end()}};
}

}  // namespace

void FoundGpus::add(const std::string& arch, std::string_view name) {
    if (arch.empty()) return;
    if (!gpus) gpus = Gpus{};
    auto& archs = gpus->archs;
    auto& names = gpus->names;
    if (std::find(archs.begin(), archs.end(), arch) == archs.end()) archs.push_back(arch);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

std::span<const AcceleratorKind* const> accelerator_kinds() {
    return kinds;
}

const AcceleratorKind* find_accelerator_kind(std::string_view name) {
    return find_kind([&](const AcceleratorKind& one) { return one.name == name; });
}

std::string_view toolkit_version(std::string_view module_version) {
    return module_version.substr(module_version.rfind('_') + 1);  // npos + 1 is 0
}

std::string toolkit_of_modules(const AcceleratorKind& kind, const std::vector<std::string>& modules) {
    const auto& names = kind.toolkit_modules;
    for (const auto& module : modules) {
        const auto slash = module.find('/');
        const auto name = std::string_view(module).substr(0, slash);
        if (slash == std::string::npos || std::find(names.begin(), names.end(), name) == names.end())
            continue;
        auto version = base::Dotted::parse(toolkit_version(std::string_view(module).substr(slash + 1)));
        if (!version) continue;
        version->numbers.resize(std::min<std::size_t>(version->numbers.size(), 2));
        return version->text();
    }
    return {};
}

std::string toolkit_of_libraries(const AcceleratorKind& kind, const std::vector<std::string>& libraries) {
    const auto runtime = kind.toolkit_library;
    for (const auto& library : libraries) {
        if (runtime.empty() || !library.starts_with(runtime)) continue;
        const auto version = base::Dotted::parse(std::string_view(library).substr(runtime.size()));
        return version ? version->text() : std::string();
    }
    return {};
}

const AcceleratorKind* kind_of_architecture(std::string_view architecture) {
    return find_kind(
        [&](const AcceleratorKind& one) { return starts_with_one(architecture, one.architecture_prefixes); });
}

const AcceleratorKind* kind_of_library(std::string_view library) {
    return find_kind([&](const AcceleratorKind& one) { return starts_with_one(library, one.libraries); });
}

const AcceleratorKind* kind_of_bound(std::string_view name_space, std::string_view feature) {
    return find_kind([&](const AcceleratorKind& one) {
        return !feature.empty() && one.variant_provider.name_space == name_space &&
               (one.variant_provider.lower_bound == feature || one.variant_provider.upper_bound == feature);
    });
}

std::vector<std::string> accelerator_names() {
    std::vector<std::string> names{std::string(cpu)};
    for (const AcceleratorKind* kind : kinds)
        names.emplace_back(kind->name);
    return names;
}

bool is_gpu_architecture(std::string_view text) {
    const AcceleratorKind* kind = kind_of_architecture(text);
    return kind != nullptr && kind->is_architecture(text);
}

std::vector<std::string> code_running_on(std::string_view architecture) {
    std::vector<std::string> names;
    const AcceleratorKind* kind = kind_of_architecture(architecture);
    if (kind == nullptr) return names;
    for (const DeviceCode& list : kind->device_code) {
        if (list.running == nullptr) continue;
        const auto found = list.running(architecture);
        names.insert(names.end(), found.begin(), found.end());
    }
    return names;
}

std::string list_kinds(std::string_view pattern, std::string_view before_last) {
    std::string text;
    for (const AcceleratorKind* kind : kinds) {
        if (!text.empty()) text += kind == kinds.back() ? before_last : ", ";
        text +=
            base::replace_all(base::replace_all(pattern, "{name}", kind->name), "{example}", kind->example);
    }
    return text;
}

std::optional<base::Dotted> toolkit_of_driver(const AcceleratorKind& kind, const base::Dotted& driver) {
    const auto found = std::find_if(kind.drivers.begin(), kind.drivers.end(),
                                    [&](const DriverRow& row) { return driver >= dotted(row.driver); });
    if (found == kind.drivers.end()) return std::nullopt;
    return dotted(found->toolkit);
}

bool is_newer_than_known(const AcceleratorKind& kind, const base::Dotted& driver) {
    return kind.drivers.empty() || driver.at(0) > kind.drivers.front().driver[0];
}

std::optional<base::Dotted> min_driver(const AcceleratorKind& kind, const base::Dotted& toolkit) {
    const auto found = std::find_if(kind.min_drivers.begin(), kind.min_drivers.end(),
                                    [&](const DriverRow& row) { return row.toolkit[0] == toolkit.at(0); });
    if (found == kind.min_drivers.end()) return std::nullopt;
    return dotted(found->driver);
}

}  // namespace wheelyard::accelerator
