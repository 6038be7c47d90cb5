// The words are those of the providers that uv has built in: `x86_64 :: level :: v3`, and of GPUs those in
// the rows of lib/accelerator.
#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/dotted.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

using accelerator::AcceleratorKind;

constexpr std::string_view level_prefix = "x86-64-";  // of the fact: "x86-64-v3"

// A wheel for v2 and v3 is taken by a node of v2. Levels have one digit, so that texts compare as numbers.
void check_level(const wheel::Variant& variant, const Facts& facts, Findings& findings) {
    std::string_view lowest;
    for (const auto& property : variant.properties) {
        if (property.name_space != "x86_64" || property.feature != "level") continue;
        if (lowest.empty() || property.value < lowest) lowest = property.value;
    }
    if (lowest.empty()) return;
    if (!facts.isa_needed.starts_with(level_prefix))
        findings.add("variant.unproven", {}, "x86_64 :: level", "no file notes the level that it needs");
    else if (facts.isa_needed.substr(level_prefix.size()) > lowest)
        findings.add("variant.promise", {}, "x86_64 :: level :: " + std::string(lowest), facts.isa_needed);
}

bool is_of(const accelerator::DeviceCode& list, const wheel::VariantProperty& property) {
    return !list.variant_feature.empty() && property.name_space == list.variant_namespace &&
           property.feature == list.variant_feature && property.value.ends_with(list.variant_suffix);
}

void check_code(const wheel::Variant& variant, const accelerator::DeviceCode& list, const Facts& facts,
                Findings& findings) {
    const auto& there = facts.code(list.fact);
    for (const auto& property : variant.properties) {
        if (!is_of(list, property)) continue;
        const std::string architecture =
            std::string(list.variant_prefix) +
            property.value.substr(0, property.value.size() - list.variant_suffix.size());
        if (std::find(there.begin(), there.end(), architecture) == there.end())
            findings.add("variant.promise", {}, property.text() + " (" + architecture + ")",
                         there.empty() ? "none" : base::join(there, " "));
    }
}

// A driver runs programs of its toolkit's major version and of older ones. A wheel with a library for each
// has one that runs.
void check_bound(const wheel::Variant& variant, const AcceleratorKind& kind, const Facts& facts,
                 Findings& findings) {
    const auto needed = facts.needed.find(std::string(kind.library_kind));
    if (needed == facts.needed.end() || kind.toolkit_library.empty()) return;
    std::map<int, std::string> runtimes;  // by the major version
    for (const std::string& library : needed->second) {
        if (!library.starts_with(kind.toolkit_library)) continue;
        const auto version = base::Dotted::parse(library.substr(kind.toolkit_library.size()));
        if (version) runtimes.emplace(version->at(0), library);
    }
    if (runtimes.empty()) return;
    for (const auto& property : variant.properties) {
        if (property.name_space != kind.variant_provider.name_space ||
            property.feature != kind.variant_provider.lower_bound)
            continue;
        const auto bound = base::Dotted::parse(property.value);
        if (bound && bound->at(0) < runtimes.begin()->first)
            findings.add("variant.promise", {}, property.text(), runtimes.begin()->second);
    }
}

}  // namespace

void check_variant_truth(const wheel::Variant& variant, const Facts& facts, Findings& findings) {
    check_level(variant, facts, findings);
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
        check_bound(variant, *kind, facts, findings);
        const auto& lists = kind->device_code;
        const auto promised =
            std::find_if(variant.properties.begin(), variant.properties.end(),
                         [&](const wheel::VariantProperty& property) {
                             return std::any_of(lists.begin(), lists.end(),
                                                [&](const auto& list) { return is_of(list, property); });
                         });
        if (promised == variant.properties.end()) continue;
        const auto& not_read = facts.device_code_not_read;
        const bool is_read = std::find(not_read.begin(), not_read.end(), kind->name) == not_read.end();
        const bool has_code = std::any_of(lists.begin(), lists.end(),
                                          [&](const auto& list) { return !facts.code(list.fact).empty(); });
        if (!is_read || !has_code) {
            findings.add("variant.unproven", {}, promised->name_space + " :: " + promised->feature,
                         is_read ? "no device code was read" : "some device code was not read");
            continue;
        }
        for (const accelerator::DeviceCode& list : lists)
            check_code(variant, list, facts, findings);
    }
}

}  // namespace wheelyard::inspect
