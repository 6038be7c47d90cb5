// A variant.json is refused, or its properties are names whose namespaces have a place in the order; the null variant has
// none. What is kept of it is a variant.json that says the same.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lib/base/check.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const std::string_view label : {"x86_64_v3", "null"}) {
        const auto variant = inspect::parse_variant_json(text, label);
        if (!variant) continue;
        WHEELYARD_CHECK(!variant->namespaces.empty());
        WHEELYARD_CHECK(label != "null" || variant->properties.empty());
        for (const wheel::VariantProperty& property : variant->properties) {
            const auto& order = variant->namespaces;
            WHEELYARD_CHECK(std::find(order.begin(), order.end(), property.name_space) != order.end());
            WHEELYARD_CHECK(!property.feature.empty() && !property.value.empty());
        }
        const auto again = inspect::parse_variant_json(variant->document, label);
        WHEELYARD_CHECK(again && again->document == variant->document);
    }
    return 0;
}
