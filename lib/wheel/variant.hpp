// What a variant wheel's label means (PEP 825): a set of properties.
#pragma once

#include <string>
#include <vector>

namespace wheelyard::wheel {

// `x86_64 :: level :: v3`. A wheel fits a node if of every feature at least one value does.
struct VariantProperty {
    std::string name_space, feature, value;
    [[nodiscard]] std::string text() const { return name_space + " :: " + feature + " :: " + value; }
};

struct Variant {
    std::vector<std::string> namespaces;      // in order of preference
    std::vector<VariantProperty> properties;  // in order of the file; the null variant has none
};

}  // namespace wheelyard::wheel
