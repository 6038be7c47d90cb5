// A variant.json is refused, or its properties are names whose namespaces have a place in the order; the null variant alone has
// none. What is kept of it is a variant.json that says the same. Of several, one a line, that do not contradict each other
// the index's file is the same in any order, and its labels have different properties.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/version_variants.hpp"

namespace {

using namespace wheelyard;

std::vector<catalog::FileRow> wheels_of(std::string_view text) {
    constexpr std::size_t max_wheels = 16;
    std::vector<catalog::FileRow> wheels;
    for (const std::string_view line : base::split(text, '\n')) {
        const auto json = io::parse_json(line);
        const io::Json* labels = json ? json->find("variants") : nullptr;
        if (labels == nullptr || labels->as_object() == nullptr || labels->as_object()->empty()) continue;
        const auto variant = inspect::parse_variant_json(line, labels->as_object()->front().first);
        if (!variant) continue;
        wheels.emplace_back();
        wheels.back().facts_json = R"({"variant":)" + variant->document + "}";
        if (wheels.size() == max_wheels) break;
    }
    return wheels;
}

void check_merge(std::vector<catalog::FileRow> wheels) {
    catalog::VersionVariants forward, backward;
    // In any order, the first of those that contradict each other stays: drop the others.
    std::erase_if(wheels, [&](const catalog::FileRow& wheel) {
        const std::string before = forward.render();
        const bool is_refused = !forward.add(wheel);
        WHEELYARD_CHECK(!is_refused || forward.render() == before);
        return is_refused;
    });
    for (auto wheel = wheels.rbegin(); wheel != wheels.rend(); ++wheel)
        WHEELYARD_CHECK(backward.add(*wheel));
    const std::string file = forward.render();
    WHEELYARD_CHECK(backward.render() == file && file.size() <= catalog::max_variants_file_bytes);
    std::set<std::string> properties;
    const auto json = io::parse_json(file);
    for (const auto& [label, set] : *json->find("variants")->as_object())
        WHEELYARD_CHECK(properties.insert(set.render()).second);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    check_merge(wheels_of(text));
    for (const std::string_view label : {"x86_64_v3", "null"}) {
        const auto variant = inspect::parse_variant_json(text, label);
        if (!variant) continue;
        WHEELYARD_CHECK(!variant->namespaces.empty());
        WHEELYARD_CHECK((label == "null") == variant->properties.empty());
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
