// The shape is that of the schema; what the schema cannot say (one label, namespaces in the order) follows
// it.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/excerpt.hpp"

namespace wheelyard::inspect {
namespace {

// Every row of the catalog has a copy, each event, and the index's file. variantlib writes below 2 KiB.
constexpr io::JsonLimits limits{.bytes = 32u << 10, .depth = 16};

// The versions that tools write: of PEP 825, of PEP 850, and of variantlib 0.2.2.
constexpr std::string_view written_schema = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
constexpr std::array<std::string_view, 4> known_schemas{
    "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
    "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json", written_schema,
    "https://variants-schema.wheelnext.dev/v0.2.0.json"};

constexpr std::string_view null_label = "null";
constexpr accelerator::VariantProvider x86_64{.name_space = "x86_64", .package = "x86-64-variant-provider"};

bool is_name(std::string_view text, std::string_view others) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || base::is_ascii_digit(c) || others.find(c) != std::string_view::npos;
    });
}

tl::unexpected<base::Error> refuse(const std::string& code, std::string sentence, std::string_view value) {
    return base::fail("variant." + code, std::move(sentence), wheel::excerpt(value));
}

const io::Json* object_at(const io::Json& parent, std::string_view name) {
    const io::Json* value = parent.find(name);
    return value != nullptr && value->as_object() != nullptr ? value : nullptr;
}

// Strings that are names and differ; at least one.
base::Result<std::vector<std::string>> names_in(const io::Json& list, std::string_view others,
                                                const std::string& where) {
    if (list.as_array() == nullptr || list.items().empty())
        return refuse("list", "A list of names in variant.json is missing, or empty", where);
    std::vector<std::string> names;
    std::set<std::string_view> seen;
    for (const io::Json& item : list.items()) {
        const std::string* name = item.as_string();
        if (name == nullptr || !is_name(*name, others))
            return refuse(
                "name",
                "A name in variant.json has other characters than a-z, 0-9 and " + std::string(others),
                name == nullptr ? where : *name);
        if (!seen.insert(*name).second)
            return refuse("repeated", "A name in variant.json is repeated", *name);
        names.push_back(*name);
    }
    return names;
}

base::Status add_properties(const io::Json::Object& namespaces, wheel::Variant& variant) {
    for (const auto& [name_space, features] : namespaces) {
        if (!is_name(name_space, "_") || features.as_object() == nullptr)
            return refuse("namespace", "A namespace in variant.json is invalid", name_space);
        if (std::find(variant.namespaces.begin(), variant.namespaces.end(), name_space) ==
            variant.namespaces.end())
            return refuse("namespace_without_place",
                          "A namespace in variant.json is not in default-priorities.namespace", name_space);
        for (const auto& [feature, values] : *features.as_object()) {
            if (!is_name(feature, "_"))
                return refuse("feature", "A feature in variant.json is invalid", feature);
            WHEELYARD_ASSIGN(const auto names, names_in(values, "_.", name_space + " :: " + feature));
            for (const std::string& value : names)
                variant.properties.push_back({name_space, feature, value});
        }
    }
    std::sort(variant.properties.begin(), variant.properties.end());
    return {};
}

// One text for one meaning: members in the order of their names.
io::Json sorted(const io::Json& json) {
    if (json.as_object() == nullptr) return json;
    io::Json::Object members;
    for (const auto& [name, value] : *json.as_object())
        members.emplace_back(name, sorted(value));
    std::sort(members.begin(), members.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return members;
}

// static-properties: values for every node, with an order where there are several features.
base::Status check_static_values(const std::string& name_space, const io::Json& provider,
                                 const io::Json::Object& features) {
    std::vector<std::string> names;
    for (const auto& [feature, values] : features) {
        if (!is_name(feature, "_")) return refuse("feature", "A feature in variant.json is invalid", feature);
        WHEELYARD_TRY(names_in(values, "_.", name_space + " :: " + feature));
        names.push_back(feature);
    }
    std::vector<std::string> order = provider.texts("feature-order");
    std::sort(names.begin(), names.end());
    std::sort(order.begin(), order.end());
    if (names == order || (order.empty() && names.size() == 1)) return {};
    return refuse("provider", "The feature-order of a provider in variant.json lacks a feature", name_space);
}

// Installers refuse a release whose index file has providers that they cannot read: one wheel would hide the
// others. A provider is a package to run, static values, or what installers have built in.
base::Status check_providers(const io::Json& providers, const wheel::Variant& variant) {
    const auto& order = variant.namespaces;
    if (providers.as_object() == nullptr || providers.as_object()->size() != order.size())
        return refuse("providers", "The providers in variant.json are not those of its namespaces", "");
    for (const auto& [name_space, provider] : *providers.as_object()) {
        if (std::find(order.begin(), order.end(), name_space) == order.end())
            return refuse("providers", "The providers in variant.json are not those of its namespaces",
                          name_space);
        const std::vector<std::string> packages = provider.texts("requires");
        const io::Json* values = object_at(provider, "static-properties");
        const bool is_package = !packages.empty() && packages.size() == provider.items("requires").size();
        if (is_package + (values != nullptr) + !provider.string_or("builtin", "").empty() != 1)
            return refuse("provider", "A provider in variant.json is not of exactly one known kind",
                          name_space);
        if (values != nullptr) WHEELYARD_TRY(check_static_values(name_space, provider, *values->as_object()));
    }
    return {};
}

io::Json properties_json(const std::vector<wheel::VariantProperty>& properties) {
    io::Json::Object namespaces;
    std::string_view feature;
    for (const auto& property : properties) {
        if (namespaces.empty() || namespaces.back().first != property.name_space) {
            namespaces.emplace_back(property.name_space, io::Json::object());
            feature = {};
        }
        io::Json& features = namespaces.back().second;
        io::Json values = feature == property.feature ? *features.find(feature) : io::Json::array();
        values.push(property.value);
        features.set(property.feature, std::move(values));
        feature = property.feature;
    }
    return namespaces;
}

}  // namespace

base::Result<wheel::Variant> parse_variant_json(std::string_view text, std::string_view label) {
    WHEELYARD_ASSIGN(const io::Json json, io::parse_json(text, limits));
    const std::string schema = json.string_or("$schema", "");
    if (std::find(known_schemas.begin(), known_schemas.end(), schema) == known_schemas.end())
        return refuse("schema", "The version of variant.json is unknown", schema);
    wheel::Variant variant;
    const io::Json* priorities = object_at(json, "default-priorities");
    const io::Json* order = priorities == nullptr ? nullptr : priorities->find("namespace");
    const std::string order_name = "default-priorities.namespace";
    if (order == nullptr)
        return refuse("list", "A list of names in variant.json is missing, or empty", order_name);
    WHEELYARD_ASSIGN(variant.namespaces, names_in(*order, "_", order_name));
    const io::Json* variants = object_at(json, "variants");
    if (variants == nullptr) return refuse("variants", "variant.json has no object `variants`", "");
    if (variants->as_object()->size() != 1)
        return refuse("several", "variant.json describes more or fewer than one variant", label);
    const auto& [described, properties] = variants->as_object()->front();
    if (described != label)
        return refuse("label_differs", "variant.json describes another label than the file name's",
                      described);
    if (properties.as_object() == nullptr)
        return refuse("variants", "variant.json has no object for its label", described);
    WHEELYARD_TRY(add_properties(*properties.as_object(), variant));
    if (label == null_label && !variant.properties.empty())
        return refuse("null", "The null variant has properties", variant.properties.front().text());
    if (label != null_label && variant.properties.empty())  // readers refuse the whole file of the index
        return refuse("null", "A variant without properties has another label than `null`", label);
    io::Json document = io::Json::object(
        {{"$schema", schema},
         {"default-priorities", io::Json::object({{"namespace", io::Json::array_of(variant.namespaces)}})}});
    if (const io::Json* providers = json.find("providers")) {
        WHEELYARD_TRY(check_providers(*providers, variant));
        document.set("providers", sorted(*providers));
    }
    document.set("variants", io::Json::object({{std::string(label), properties_json(variant.properties)}}));
    variant.document = document.render();
    return variant;
}

std::string render_variant_json(const wheel::LabelledVariant& variant) {
    io::Json order = io::Json::array();
    io::Json providers = io::Json::object();
    const auto add = [&](const accelerator::VariantProvider& provider) {
        if (provider.name_space.empty()) return;
        order.push(provider.name_space);
        io::Json json = io::Json::object();
        if (!provider.plugin_api.empty()) json.set("plugin-api", provider.plugin_api);
        json.set("requires", io::Json::array_of(std::vector{provider.package}));
        providers.set(std::string(provider.name_space), std::move(json));
    };
    for (const auto* kind : accelerator::accelerator_kinds())
        add(kind->variant_provider);
    add(x86_64);
    return io::Json::object(
               {{"$schema", written_schema},
                {"default-priorities", io::Json::object({{"namespace", std::move(order)}})},
                {"providers", std::move(providers)},
                {"variants", io::Json::object({{variant.label, properties_json(variant.properties)}})}})
        .render_pretty();
}

}  // namespace wheelyard::inspect
