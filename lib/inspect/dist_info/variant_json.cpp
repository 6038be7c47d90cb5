// The shape is that of the schema; what the schema cannot say (one label, namespaces in the order) follows it.
#include "lib/inspect/dist_info/variant_json.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/excerpt.hpp"

namespace wheelyard::inspect {
namespace {

constexpr io::JsonLimits limits{.bytes = 1u << 20, .depth = 16};
constexpr std::size_t max_properties = 10'000;

// The versions that tools write: of PEP 825, of PEP 850, and of variantlib 0.2.2.
constexpr std::array<std::string_view, 4> known_schemas{
    "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
    "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
    "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
    "https://variants-schema.wheelnext.dev/v0.2.0.json"};

constexpr std::string_view null_label = "null";

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
            if (variant.properties.size() > max_properties)
                return refuse("many", "variant.json has more than 10,000 properties", name_space);
        }
    }
    return {};
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
    return variant;
}

}  // namespace wheelyard::inspect
