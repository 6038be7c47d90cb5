// The words are those of the providers that uv has built in, as in variant_truth.cpp, which holds finished
// wheels against them.
#include "lib/inspect/truth/declared_variant.hpp"

#include <algorithm>
#include <string_view>

#include "lib/base/text/dotted.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

using accelerator::AcceleratorKind;
using wheel::LabelledVariant;

tl::unexpected<base::Error> unproven(std::string sentence, std::string value) {
    return base::fail("variant.unproven", std::move(sentence), std::move(value),
                      "see docs/explanation/wheel-variants.md, \"What the agent makes\"");
}

// Empty: not declared.
std::string value_of(const LabelledVariant& variant, std::string_view name_space, std::string_view feature) {
    for (const auto& property : variant.properties) {
        if (property.name_space == name_space && property.feature == feature) return property.value;
    }
    return {};
}

const std::string* library_of(const Facts& facts, std::string_view kind) {
    const auto found = facts.needed.find(std::string(kind));
    return found == facts.needed.end() || found->second.empty() ? nullptr : &found->second.front();
}

// What no property can say of a node.
base::Status check_ties(const Facts& facts) {
    if (const std::string* library = library_of(facts, "mpi"))
        return unproven("It needs MPI, for which no provider of variants has a word", *library);
    if (!facts.search_paths.empty())
        return unproven("It looks for libraries in a folder outside the wheel", facts.search_paths.front());
    return {};
}

base::Status add_code(const Facts& facts, const AcceleratorKind& kind, bool is_declared,
                      LabelledVariant& variant) {
    const auto& not_read = facts.device_code_not_read;
    if (std::find(not_read.begin(), not_read.end(), kind.name) != not_read.end())
        return unproven("Not all of its GPU code was read", std::string(kind.title));
    const std::string* library = kind.is_library_kind_shared ? nullptr : library_of(facts, kind.library_kind);
    if (!is_declared && library != nullptr)
        return unproven("It needs a library of another accelerator than its own", *library);
    const std::size_t before = variant.properties.size();
    for (const accelerator::DeviceCode& list : kind.device_code) {
        for (const std::string& architecture : facts.code(list.fact)) {
            if (!is_declared)
                return unproven("It has code for another accelerator than its own", architecture);
            if (list.variant_feature.empty() || !architecture.starts_with(list.variant_prefix))
                return unproven("No provider of variants has a word for its GPU code", architecture);
            variant.properties.push_back(
                {std::string(list.variant_namespace), std::string(list.variant_feature),
                 architecture.substr(list.variant_prefix.size()) + std::string(list.variant_suffix)});
        }
    }
    if (is_declared && variant.properties.size() == before)
        return unproven("It is built for GPUs, and no code in it says for which", std::string(kind.title));
    return {};
}

// "x86-64-v3" → "v3"; empty: another text.
std::string_view level_in(std::string_view text) {
    constexpr std::string_view prefix = "x86-64-";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string_view();
}

// Levels have one digit, so that texts compare as numbers.
base::Status check_level(const LabelledVariant& declared, const Facts& facts, const BuiltFor& built) {
    const std::string level = value_of(declared, "x86_64", "level");
    const std::string_view allowed = level.empty() ? "v1" : std::string_view(level);
    if (!level.empty() &&
        std::find(facts.machines.begin(), facts.machines.end(), "x86_64") == facts.machines.end())
        return unproven("A level of x86_64 is declared, and its code is for another machine",
                        base::join(facts.machines, " "));
    if (level_in(facts.isa_needed) > allowed)
        return unproven("It needs a processor above the declared level", facts.isa_needed);
    const std::string_view asked = level_in(built.cpu);
    if (asked.empty() && built.cpu != "baseline")
        return unproven("The compiler options of its build name no level of a processor", built.cpu);
    if (asked > allowed)
        return unproven("The compiler options of its build ask for more than the declared level", built.cpu);
    return {};
}

// A driver supports the toolkits up to its own version; a new major version needs a new driver.
base::Status check_driver(const LabelledVariant& declared, const Facts& facts, const BuiltFor& built) {
    if (built.kind == nullptr) return {};
    const AcceleratorKind& kind = *built.kind;
    const auto& provider = kind.variant_provider;
    const auto bound = base::Dotted::parse(value_of(declared, provider.name_space, provider.lower_bound));
    if (!bound) return unproven("The oldest driver is not declared", std::string(kind.title));
    const auto libraries = facts.needed.find(std::string(kind.library_kind));
    for (const std::string& toolkit :
         {kind.toolkit_of_label(built.local).value_or(""), toolkit_of_modules(kind, built.modules),
          libraries == facts.needed.end() ? "" : toolkit_of_libraries(kind, libraries->second)}) {
        const auto version = base::Dotted::parse(toolkit);
        if (!version) continue;
        if (version->numbers.front() != bound->numbers.front() || *bound < *version)
            return unproven("It is built with another toolkit than the declared driver supports", toolkit);
    }
    return {};
}

}  // namespace

base::Result<LabelledVariant> prove_variant(const LabelledVariant& declared, const Facts& facts,
                                            const BuiltFor& built) {
    WHEELYARD_TRY(check_ties(facts));
    WHEELYARD_TRY(check_level(declared, facts, built));
    LabelledVariant variant = declared;
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds())
        WHEELYARD_TRY(add_code(facts, *kind, kind == built.kind, variant));
    WHEELYARD_TRY(check_driver(declared, facts, built));
    std::sort(variant.properties.begin(), variant.properties.end());
    return variant;
}

}  // namespace wheelyard::inspect
