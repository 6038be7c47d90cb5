// What a variant wheel's label means (PEP 825): a set of properties.
#pragma once

#include <compare>
#include <string>
#include <vector>

namespace wheelyard::wheel {

// `x86_64 :: level :: v3`. A wheel fits a node if of every feature at least one value does.
struct VariantProperty {
    std::string name_space, feature, value;
    auto operator<=>(const VariantProperty&) const = default;
    [[nodiscard]] std::string text() const { return name_space + " :: " + feature + " :: " + value; }
};

// A label, and what it stands for.
struct LabelledVariant {
    std::string label;
    std::vector<VariantProperty> properties;  // sorted
};

struct Variant {
    std::vector<std::string> namespaces;      // in order of preference
    std::vector<VariantProperty> properties;  // sorted; the null variant has none
    // variant.json with the members that the index's file {name}-{version}-variants.json needs, as JSON: two
    // wheels say the same of a label, a namespace or a provider if the texts of the member are equal.
    std::string document;
};

}  // namespace wheelyard::wheel
