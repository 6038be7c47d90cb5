// variant.json: what is read, and every way in which it can be wrong.
#include "lib/inspect/dist_info/variant_json.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

// The example of PEP 825, without its comments, with a member of PEP 850.
constexpr std::string_view example = R"({
  "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
  "default-priorities": {"namespace": ["x86_64", "aarch64", "blas_lapack"]},
  "providers": {"x86_64": {"requires": ["x86-64-variant-provider"]}},
  "variants": {"x86_64_v3_openblas": {"blas_lapack": {"library": ["openblas"]}, "x86_64": {"level": ["v3"]}}}})";

std::string variant_code(const std::string& variants, const std::string& label = "a") {
    const auto variant = inspect::parse_variant_json(variant_json("cpu", variants), label);
    return variant ? "" : variant.error().code;
}

std::string replaced(std::string_view what, const std::string& by) {
    std::string text(example);
    return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("the example of PEP 825 is read") {
    const auto variant = inspect::parse_variant_json(example, "x86_64_v3_openblas");
    REQUIRE(variant.has_value());
    CHECK(variant->namespaces == std::vector<std::string>{"x86_64", "aarch64", "blas_lapack"});
    REQUIRE(variant->properties.size() == 2);
    CHECK(variant->properties[0].text() == "blas_lapack :: library :: openblas");
    CHECK(variant->properties[1].text() == "x86_64 :: level :: v3");
}

TEST_CASE("the null variant has no properties, and values may be in any order") {
    CHECK(variant_code(R"("null":{})", "null").empty());
    CHECK(variant_code(R"("null":{"cpu":{}})", "null").empty());
    CHECK(variant_code(R"("null":{"cpu":{"level":["v1"]}})", "null") == "variant.null");
    CHECK(variant_code(R"("a":{"cpu":{"level":["v3","v2","9.0_a"]}})").empty());
}

TEST_CASE("each fault of variant.json has its code") {
    struct Row {
        const char* variants;
        const char* code;
    };
    for (const Row& row :
         {Row{R"("b":{})", "variant.label_differs"}, Row{"", "variant.several"},
          Row{R"("a":{},"b":{})", "variant.several"}, Row{R"("a":[])", "variant.variants"},
          Row{R"("a":{"cpu":[]})", "variant.namespace"}, Row{R"("a":{"CPU":{}})", "variant.namespace"},
          Row{R"("a":{"gpu":{"sm":["90"]}})", "variant.namespace_without_place"},
          Row{R"("a":{"cpu":{"le vel":["v3"]}})", "variant.feature"},
          Row{R"("a":{"cpu":{"level":"v3"}})", "variant.list"},
          Row{R"("a":{"cpu":{"level":[]}})", "variant.list"},
          Row{R"("a":{"cpu":{"level":["V3"]}})", "variant.name"},
          Row{R"("a":{"cpu":{"level":[""]}})", "variant.name"},
          Row{R"("a":{"cpu":{"level":[3]}})", "variant.name"},
          Row{R"("a":{"cpu":{"level":["v3","v3"]}})", "variant.repeated"}}) {
        CAPTURE(row.variants);
        CHECK(variant_code(row.variants) == row.code);
    }
    const auto code = [](const std::string& text) {
        const auto variant = inspect::parse_variant_json(text, "x86_64_v3_openblas");
        return variant ? "" : variant.error().code;
    };
    CHECK(code("{") == "json.syntax");
    CHECK(code("[]") == "variant.schema");
    CHECK(code(replaced("v0.1.0", "v9.9.9")) == "variant.schema");
    CHECK(code(replaced(R"(["x86_64", "aarch64", "blas_lapack"])", "[]")) == "variant.list");
    CHECK(code(replaced("\"aarch64\"", "\"x86_64\"")) == "variant.repeated");
    CHECK(code(replaced("\"namespace\"", "\"feature\"")) == "variant.list");
    CHECK(code(replaced("\"variants\"", "\"labels\"")) == "variant.variants");
}

TEST_CASE("the number of properties and the nesting of variant.json have limits") {
    std::string values;
    for (int i = 0; i < 10'001; ++i)
        values += (i == 0 ? "\"v" : ",\"v") + std::to_string(i) + "\"";
    CHECK(variant_code(R"("a":{"cpu":{"level":[)" + values + "]}}") == "variant.many");
    CHECK(variant_code(R"("a":)" + std::string(100, '[') + std::string(100, ']')) == "json.too_deep");
}
