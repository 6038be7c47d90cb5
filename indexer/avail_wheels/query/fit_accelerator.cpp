// Variants, GPUs and their drivers.
#include <algorithm>
#include <array>
#include <string_view>

#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::avail_wheels::checks {

using accelerator::AcceleratorKind;

namespace {

const AcceleratorKind& kind_of(std::string_view gpu) {
    const AcceleratorKind* kind = accelerator::kind_of_architecture(gpu);
    return kind == nullptr ? *accelerator::accelerator_kinds().front() : *kind;
}

bool has_gpu_of(const Gpus& gpus, const AcceleratorKind& kind) {
    return std::any_of(gpus.archs.begin(), gpus.archs.end(),
                       [&](const auto& gpu) { return &kind_of(gpu) == &kind; });
}

// "550.54.15 (CUDA 12.4)"
std::string driver_text(const Dotted& driver, const AcceleratorKind& kind) {
    const auto known = accelerator::toolkit_of_driver(kind, driver);
    return driver.text() + (known ? " (" + std::string(kind.title) + " " + known->text() + ")" : "");
}

// Says whether the toolkit that the node's driver supports is within this bound of a variant.
std::optional<bool> is_within(const Node& node, const AcceleratorKind& kind,
                              const wheel::VariantProperty& bound) {
    const auto toolkit = Dotted::parse(bound.value);
    if (!toolkit || !node.gpus) return std::nullopt;
    if (!has_gpu_of(*node.gpus, kind)) return false;
    if (!node.driver) return std::nullopt;
    const auto known = accelerator::toolkit_of_driver(kind, *node.driver);
    const bool is_older = !known || *known < *toolkit;
    if (is_older && accelerator::is_newer_than_known(kind, *node.driver)) return std::nullopt;
    return is_older == (bound.feature == kind.variant_provider.upper_bound);
}

}  // namespace

std::optional<bool> has_property(const Node& node, const wheel::VariantProperty& property) {
    if (property.name_space == "x86_64" && property.feature == "level") {
        if (node.machine.empty()) return std::nullopt;
        if (node.machine != "x86_64") return false;
        constexpr std::array<std::string_view, 4> levels{"v1", "v2", "v3", "v4"};  // of the psABI
        if (std::find(levels.begin(), levels.end(), property.value) == levels.end()) return std::nullopt;
        if (property.value == "v1") return true;
        if (node.cpu.empty()) return std::nullopt;
        return node.cpu >= "x86-64-" + property.value;  // they differ only in the last digit
    }
    if (const AcceleratorKind* kind = accelerator::kind_of_bound(property.name_space, property.feature))
        return is_within(node, *kind, property);
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
        for (const accelerator::DeviceCode& list : kind->device_code) {
            if (property.name_space != list.variant_namespace || property.feature != list.variant_feature ||
                !property.value.ends_with(list.variant_suffix))
                continue;
            if (!node.gpus) return std::nullopt;
            const std::string code =
                std::string(list.variant_prefix) +
                property.value.substr(0, property.value.size() - list.variant_suffix.size());
            return std::any_of(node.gpus->archs.begin(), node.gpus->archs.end(),
                               [&](const std::string& gpu) { return list.runs(code, gpu); });
        }
    }
    return std::nullopt;
}

// PEP 825: of every feature the node has at least one value. Never "yes": which installer will ask is not
// known, and those without variants pass the file name over.
Fit check_variant(const Question& q) {
    const std::string& label = q.candidate.tags->variant;
    if (label.empty()) return {};
    const std::string plain = "choose a wheel without a label";
    if (!q.needs.variant)
        return no("variant", "has the variant label " + label + ", and what it means is not known", plain);
    const auto& properties = *q.needs.variant;
    std::string all, not_known;
    for (auto at = properties.begin(); at != properties.end();) {
        std::string values;
        std::optional<bool> has = false;
        const auto first = at;
        for (; at != properties.end() && at->name_space == first->name_space && at->feature == first->feature;
             ++at) {
            values += (values.empty() ? "" : " or ") + at->text();
            const auto one = has_property(q.node, *at);
            if (one.value_or(false) || (!one && !has.value_or(true))) has = one;
        }
        const AcceleratorKind* kind = accelerator::kind_of_bound(first->name_space, first->feature);
        const std::string here =
            kind == nullptr || !q.node.driver ? "" : ": its driver is " + driver_text(*q.node.driver, *kind);
        if (has.has_value() && !*has)
            return no("variant", "is the variant for " + values + ", which this node does not have" + here,
                      plain);
        if (!has && not_known.empty()) not_known = values;
        all += (all.empty() ? "" : ", ") + values;
    }
    if (!not_known.empty())
        return unknown("variant",
                       "is the variant for " + not_known + "; whether this node has that is not known");
    return unknown("variant", (all.empty() ? "is the null variant" : "is the variant for " + all) +
                                  "; pip passes it over, uv takes it with --preview-features wheel-variants");
}

namespace {

// Says whether any GPU of the node runs any of the code. `needs_jit`: only by compiling it when it is loaded
// (PTX).
bool gpu_suits(const Needs& needs, const Gpus& gpus, bool& needs_jit) {
    for (const bool is_portable : {false, true}) {
        for (const GpuNeeds& one : needs.gpus) {
            for (std::size_t i = 0; i < one.code.size(); ++i) {
                const auto& list = one.kind->device_code[i];
                if (list.is_portable != is_portable) continue;
                const bool suits = std::any_of(one.code[i].begin(), one.code[i].end(), [&](const auto& code) {
                    return std::any_of(gpus.archs.begin(), gpus.archs.end(),
                                       [&](const auto& gpu) { return list.runs(code, gpu); });
                });
                if (!suits) continue;
                needs_jit = is_portable;
                return true;
            }
        }
    }
    return false;
}

Fit check_driver(const Question& q, const GpuNeeds& gpu, bool needs_jit) {
    const auto& kind = *gpu.kind;
    const auto toolkit = Dotted::parse(gpu.toolkit);
    if (!toolkit || kind.drivers.empty()) return {};
    const std::string title(kind.title);
    const std::string built_with = title + " " + gpu.toolkit;
    if (!q.node.driver)
        return unknown("driver", "built with " + built_with + ", and this node's driver is unknown");
    const std::string driver = q.node.driver->text();
    const auto min_version = accelerator::min_driver(kind, *toolkit);
    if (min_version && *q.node.driver < *min_version) {
        return no("driver",
                  built_with + " needs driver " + min_version->text() + " or newer, here is " + driver,
                  "choose a build with an older " + title);
    }
    const auto known = accelerator::toolkit_of_driver(kind, *q.node.driver);
    if (!known) {
        return no("driver", built_with + " is newer than driver " + driver,
                  "choose a build with an older " + title);
    }
    // Code compiled for this GPU runs with any driver of the major version; PTX needs a driver at least as
    // new as the toolkit.
    const bool is_older = needs_jit ? *known < *toolkit : known->at(0) < toolkit->at(0);
    if (is_older && accelerator::is_newer_than_known(kind, *q.node.driver))
        return unknown("driver", "built with " + built_with + ", and what driver " + driver +
                                     " supports is newer than this program");
    const std::string of_driver = driver_text(*q.node.driver, kind);
    if (needs_jit && is_older) {
        return no("driver",
                  "has only PTX for this GPU, which driver " + of_driver + " cannot compile: it comes from " +
                      built_with,
                  "choose a build for this GPU, or one with " + title + " " + known->text() + " or older");
    }
    if (is_older) {
        return no("driver", built_with + " is newer than driver " + of_driver,
                  "choose a build with " + title + " " + std::to_string(known->at(0)));
    }
    return {};
}

}  // namespace

Fit check_gpu(const Question& q) {
    if (q.needs.gpus.empty()) return {};
    if (!q.node.gpus) return unknown("gpu", "for GPUs, and this node's GPUs are unknown");
    // A wheel with GPU code can be imported on a node without a GPU and runs its CPU code there.
    if (q.node.gpus->archs.empty()) return {};
    const auto& here = q.node.gpus->archs;
    if (std::none_of(q.needs.gpus.begin(), q.needs.gpus.end(),
                     [&](const GpuNeeds& one) { return has_gpu_of(*q.node.gpus, *one.kind); })) {
        const auto& built_for = *q.needs.gpus.back().kind;
        return no("gpu",
                  "built for " + std::string(built_for.vendor) + " (" + std::string(built_for.title) +
                      "), here is " + listed(here),
                  "look for a " + std::string(kind_of(here.back()).title) + " build");
    }
    std::vector<std::string> code;
    for (const GpuNeeds& one : q.needs.gpus) {
        for (const auto& names : one.code)
            code.insert(code.end(), names.begin(), names.end());
    }
    bool needs_jit = false;
    if (!code.empty() && !gpu_suits(q.needs, *q.node.gpus, needs_jit)) {
        return no("gpu", "built for " + listed(code) + ", here is " + listed(here),
                  "look for a build for " + here.front() + ", or ask for one");
    }
    for (const GpuNeeds& one : q.needs.gpus) {
        if (!has_gpu_of(*q.node.gpus, *one.kind)) continue;
        if (auto fit = check_driver(q, one, needs_jit); fit.runs != Runs::yes) return fit;
        if (one.kind->device_code.empty())
            return unknown("gpu", "its " + std::string(one.kind->title) + " code is not read");
    }
    if (code.empty() && !q.needs.proven) return unknown("gpu", "its GPU code is unknown");
    return {};
}

}  // namespace wheelyard::avail_wheels::checks
