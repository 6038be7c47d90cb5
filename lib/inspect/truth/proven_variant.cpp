// The words are those of the providers that uv has built in, as in variant_truth.cpp, which holds wheels against them.
#include "lib/inspect/truth/proven_variant.hpp"

#include <algorithm>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::inspect {
namespace {

using accelerator::AcceleratorKind;
using io::Json;
using Properties = std::vector<wheel::VariantProperty>;

constexpr std::string_view schema = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
constexpr accelerator::VariantProvider x86_64{.name_space = "x86_64", .package = "x86-64-variant-provider"};
constexpr std::size_t label_digits = 8;

tl::unexpected<base::Error> unproven(std::string sentence, std::string value) {
    return base::fail("variant.unproven", std::move(sentence), std::move(value),
                      "see docs/explanation/wheel-variants.md, \"What our facts can prove\"");
}

// "libcudart.so.12" → "12"; empty: it needs none.
std::string toolkit_major(const Facts& facts, const AcceleratorKind& kind) {
    const auto libraries = facts.needed.find(std::string(kind.library_kind));
    if (libraries == facts.needed.end() || kind.toolkit_library.empty()) return {};
    for (const std::string& library : libraries->second) {
        if (!library.starts_with(kind.toolkit_library)) continue;
        const std::string version = library.substr(kind.toolkit_library.size());
        return version.substr(0, version.find('.'));
    }
    return {};
}

bool needs(const Facts& facts, const AcceleratorKind& kind) {
    return !kind.is_library_kind_shared && facts.needed.contains(std::string(kind.library_kind));
}

base::Status add_code(const Facts& facts, const AcceleratorKind& kind, Properties& properties) {
    const auto& not_read = facts.device_code_not_read;
    if (std::find(not_read.begin(), not_read.end(), kind.name) != not_read.end())
        return unproven("Not all of its GPU code was read", std::string(kind.title));
    const std::size_t before = properties.size();
    for (const accelerator::DeviceCode& list : kind.device_code) {
        for (const std::string& architecture : facts.code(list.fact)) {
            if (list.variant_feature.empty() || !architecture.starts_with(list.variant_prefix))
                return unproven("No provider of variants has a word for its GPU code", architecture);
            properties.push_back(
                {std::string(list.variant_namespace), std::string(list.variant_feature),
                 architecture.substr(list.variant_prefix.size()) + std::string(list.variant_suffix)});
        }
    }
    if (const std::string major = toolkit_major(facts, kind); !major.empty() && base::parse_decimal(major)) {
        const auto& provider = kind.variant_provider;
        if (!provider.driver_feature.empty())
            properties.push_back(
                {std::string(provider.name_space), std::string(provider.driver_feature), major + ".0"});
    }
    if (properties.size() == before && needs(facts, kind))
        return unproven("It needs libraries of an accelerator, and nothing says for which GPUs it is",
                        std::string(kind.title));
    return {};
}

base::Status add_level(const Facts& facts, std::string_view built_cpu, Properties& properties) {
    constexpr std::string_view prefix = "x86-64-";
    if (facts.machines.empty()) return {};
    const std::string_view noted = facts.isa_needed;
    const std::string_view asked = built_cpu == "baseline" ? std::string_view() : built_cpu;
    if (!asked.empty() && !asked.starts_with(prefix))
        return unproven("It was built for a processor that no provider of variants has a word for",
                        std::string(asked));
    // They differ in the last digit alone; the baseline has none.
    const std::string_view level = std::max(noted.starts_with(prefix) ? noted : std::string_view(), asked);
    if (level.empty() || level.ends_with("v1")) return {};
    properties.push_back({std::string(x86_64.name_space), "level", std::string(level.substr(prefix.size()))});
    return {};
}

std::string label_of(const Properties& properties) {
    if (properties.empty()) return "null";
    std::string text;
    for (const auto& property : properties)
        text += property.text() + "\n";
    return base::sha256_hex(text).substr(0, label_digits);
}

// The same order and providers in each wheel, as wheels of one version have to agree.
std::string render(const std::string& label, const Properties& properties) {
    Json order = Json::array();
    Json providers = Json::object();
    const auto add = [&](const accelerator::VariantProvider& provider) {
        order.push(provider.name_space);
        Json json = Json::object({{"requires", Json::array_of(std::vector{provider.package})}});
        if (!provider.plugin_api.empty()) json.set("plugin-api", provider.plugin_api);
        providers.set(std::string(provider.name_space), std::move(json));
    };
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
        if (!kind->variant_provider.name_space.empty()) add(kind->variant_provider);
    }
    add(x86_64);
    Json variant = Json::object();
    for (auto at = properties.begin(); at != properties.end();) {
        Json features = Json::object();
        const std::string name_space = at->name_space;
        while (at != properties.end() && at->name_space == name_space) {
            Json values = Json::array();
            const std::string feature = at->feature;
            for (; at != properties.end() && at->name_space == name_space && at->feature == feature; ++at)
                values.push(at->value);
            features.set(feature, std::move(values));
        }
        variant.set(name_space, std::move(features));
    }
    return Json::object({{"$schema", schema},
                         {"default-priorities", Json::object({{"namespace", std::move(order)}})},
                         {"providers", std::move(providers)},
                         {"variants", Json::object({{label, std::move(variant)}})}})
        .render_pretty();
}

}  // namespace

base::Result<ProvenVariant> prove_variant(const Facts& facts, std::string_view built_cpu) {
    ProvenVariant variant;
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds())
        WHEELYARD_TRY(add_code(facts, *kind, variant.properties));
    WHEELYARD_TRY(add_level(facts, built_cpu, variant.properties));
    std::sort(variant.properties.begin(), variant.properties.end());
    variant.label = label_of(variant.properties);
    variant.json = render(variant.label, variant.properties);
    return variant;
}

}  // namespace wheelyard::inspect
