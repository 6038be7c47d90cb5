// Properties by facts. Labels are those that `variantlib get-variant-hash` 0.2.2 prints for the properties.
#include "lib/inspect/truth/proven_variant.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"

using namespace wheelyard;

namespace {

inspect::Facts with_code(const std::vector<std::string>& sm, const std::vector<std::string>& ptx = {},
                         const std::string& runtime = {}) {
    inspect::Facts facts;
    facts.machines = {"x86_64"};
    if (!sm.empty()) facts.device_code["cuda_sm"] = sm;
    if (!ptx.empty()) facts.device_code["cuda_ptx"] = ptx;
    if (!runtime.empty()) facts.needed["cuda"] = {"libcublas.so.13", runtime};
    return facts;
}

inspect::Facts for_processor(const std::string& noted) {
    inspect::Facts facts;
    facts.machines = {"x86_64"};
    facts.isa_needed = noted;
    return facts;
}

std::string text_of(const std::vector<wheel::VariantProperty>& properties) {
    std::vector<std::string> texts;
    for (const auto& property : properties)
        texts.push_back(property.text());
    return base::join(texts, ", ");
}

}  // namespace

TEST_CASE("a variant has the properties that the code of a wheel proves, and variantlib's label for them") {
    struct Row {
        inspect::Facts facts;
        std::string built_cpu;
        std::string properties;
        std::string label;
    };
    const Row rows[] = {
        {with_code({"sm_90"}), "baseline", "nvidia :: sm_arch :: 90_real", "033d5a19"},
        {with_code({"sm_80", "sm_90"}, {"compute_90"}, "libcudart.so.12"), "x86-64-v3",
         "nvidia :: cuda_version_lower_bound :: 12.0, nvidia :: sm_arch :: 80_real, nvidia :: sm_arch :: "
         "90_real, "
         "nvidia :: sm_arch :: 90_virtual, x86_64 :: level :: v3",
         "977dea07"},
        {for_processor("x86-64-v3"), "x86-64-v2", "x86_64 :: level :: v3", "fa7c1393"},
        {for_processor("x86-64-v2"), "x86-64-v3", "x86_64 :: level :: v3", "fa7c1393"},
        {for_processor("x86-64"), "baseline", "", "null"},
        {for_processor(""), "", "", "null"},
        {{}, "-march=native", "", "null"},  // nothing was compiled
    };
    for (const Row& row : rows) {
        const auto variant = inspect::prove_variant(row.facts, row.built_cpu);
        REQUIRE(variant.has_value());
        CHECK(text_of(variant->properties) == row.properties);
        CHECK(variant->label == row.label);
        const auto read = inspect::parse_variant_json(variant->json, row.label);
        REQUIRE_MESSAGE(read.has_value(), read.error().text());
        CHECK(read->properties == variant->properties);
        CHECK(read->namespaces == std::vector<std::string>{"nvidia", "x86_64"});
    }
}

TEST_CASE("there is no variant of what no provider has a word for, or of what was not read") {
    inspect::Facts hip;
    hip.device_code["hip_gfx"] = {"gfx90a"};
    inspect::Facts only_linked;
    only_linked.needed["rocm"] = {"libamdhip64.so.6"};
    inspect::Facts not_read = with_code({"sm_90"});
    not_read.device_code_not_read = {"xpu"};
    struct Row {
        inspect::Facts facts;
        std::string built_cpu;
        std::string value;
    };
    for (const Row& row : {Row{hip, "baseline", "gfx90a"}, Row{only_linked, "baseline", "ROCm"},
                           Row{not_read, "baseline", "oneAPI"},
                           Row{for_processor(""), "-mcpu=neoverse-v2", "-mcpu=neoverse-v2"},
                           Row{for_processor(""), "-march=native", "-march=native"}}) {
        CAPTURE(row.value);
        const auto variant = inspect::prove_variant(row.facts, row.built_cpu);
        REQUIRE(!variant.has_value());
        CHECK(variant.error().code == "variant.unproven");
        CHECK(variant.error().value == row.value);
    }
}
