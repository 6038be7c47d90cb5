// variant.json: what is read, and every way in which it can be wrong.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/io/json.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

// The example of PEP 825, without its comments, with a member of PEP 850.
constexpr std::string_view example = R"({
  "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",
  "default-priorities": {"namespace": ["x86_64", "aarch64", "blas_lapack"]},
  "providers": {"x86_64": {"requires": ["x86-64-variant-provider"]}, "aarch64": {"builtin": "aarch64"},
    "blas_lapack": {"static-properties": {"library": ["openblas", "mkl"]}}},
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

TEST_CASE("the null variant and no other has no properties, and values may be in any order") {
    CHECK(variant_code(R"("null":{})", "null").empty());
    CHECK(variant_code(R"("null":{"cpu":{}})", "null").empty());
    CHECK(variant_code(R"("null":{"cpu":{"level":["v1"]}})", "null") == "variant.null");
    // variantlib 0.2.2: "Null variant must always use 'null' label".
    CHECK(variant_code(R"("a":{})") == "variant.null");
    CHECK(variant_code(R"("a":{"cpu":{}})") == "variant.null");
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

TEST_CASE("providers are those of the namespaces, each of one kind") {
    const auto code = [](const std::string& providers) -> std::string {
        const auto variant = inspect::parse_variant_json(
            R"({"$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
                "default-priorities": {"namespace": ["cpu"]}, "providers": )" +
                providers + R"(, "variants": {"a": {"cpu": {"level": ["v3"]}}}})",
            "a");
        return variant ? "" : variant.error().code;
    };
    struct Row {
        const char* providers;
        const char* code;
    };
    for (const Row& row :
         {Row{R"({"cpu":{"requires":["one", "two"],"plugin-api":"one:Plugin","optional":true}})", ""},
          Row{R"({"cpu":{"builtin":"cpu"}})", ""}, Row{R"({"cpu":{"static-properties":{"a":["1"]}}})", ""},
          Row{R"({"cpu":{"static-properties":{"a":["1"],"b":["2"]},"feature-order":["b","a"]}})", ""},
          Row{R"({"cpu":{"static-properties":{"a":["1"],"b":["2"]}}})", "variant.provider"},
          Row{R"({"cpu":{"static-properties":{"a":["1"]},"feature-order":["b"]}})", "variant.provider"},
          Row{R"({"cpu":{"static-properties":{"A":["1"]}}})", "variant.feature"},
          Row{R"({"cpu":{"static-properties":{"a":[]}}})", "variant.list"},
          Row{R"({"cpu":{"requires":["one"],"builtin":"cpu"}})", "variant.provider"},
          Row{R"({"cpu":{"requires":["one",2]}})", "variant.provider"},
          Row{R"({"cpu":{"requires":[]}})", "variant.provider"}, Row{R"({"cpu":{}})", "variant.provider"},
          Row{R"({"cpu":[]})", "variant.provider"}, Row{"{}", "variant.providers"},
          Row{"[]", "variant.providers"}, Row{R"({"gpu":{"builtin":"gpu"}})", "variant.providers"},
          Row{R"({"cpu":{"builtin":"cpu"},"gpu":{"builtin":"gpu"}})", "variant.providers"}}) {
        CAPTURE(row.providers);
        CHECK(code(row.providers) == row.code);
    }
}

TEST_CASE("what the index's file needs is kept, in one text for one meaning") {
    const auto document = [](std::string_view text) {
        const auto variant = inspect::parse_variant_json(text, "x86_64_v3_openblas");
        REQUIRE(variant.has_value());
        return variant->document;
    };
    const std::string kept =
        R"({"$schema":"https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json",)"
        R"("default-priorities":{"namespace":["x86_64","aarch64","blas_lapack"]},)"
        R"("providers":{"aarch64":{"builtin":"aarch64"},)"
        R"("blas_lapack":{"static-properties":{"library":["openblas","mkl"]}},)"
        R"("x86_64":{"requires":["x86-64-variant-provider"]}},)"
        R"("variants":{"x86_64_v3_openblas":{"blas_lapack":{"library":["openblas"]},"x86_64":{"level":["v3"]}}}})";
    CHECK(document(example) == kept);
    CHECK(document(kept) == kept);
    // The values of a feature are a set, features and namespaces are objects, and an empty one says nothing.
    CHECK(document(replaced(R"({"blas_lapack": {"library": ["openblas"]}, "x86_64": {"level": ["v3"]}})",
                            R"({"x86_64":{"os":["a"],"level":["v4","v3"]},"aarch64":{}})"))
              .ends_with(R"({"x86_64":{"level":["v3","v4"],"os":["a"]}}}})"));
    CHECK(document(replaced("\"default-priorities\"", "\"comment\": 1, \"default-priorities\"")) == kept);
}

TEST_CASE("the size and the nesting of variant.json have limits") {
    const auto with_values = [](int count) {
        std::string values;
        for (int i = 0; i < count; ++i)
            values += (i == 0 ? "\"v" : ",\"v") + std::to_string(i) + "\"";
        return variant_code(R"("a":{"cpu":{"level":[)" + values + "]}}");
    };
    CHECK(with_values(3'000).empty());
    CHECK(with_values(5'000) == "json.too_large");
    CHECK(variant_code(R"("a":)" + std::string(100, '[') + std::string(100, ']')) == "json.too_deep");
}

TEST_CASE(
    "an index that takes variant wheels accepts one, with what it means, and refuses no less than others") {
    test_support::WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311).add("six/_six.so", test_support::write_elf({}));
    const std::string filename = wheel.filename();
    const auto labelled = [&](const std::string& label, const std::string& json) {
        inspect::InspectOptions options;
        options.policy.variants = true;
        test_support::WheelWriter with = wheel;
        with.dist_info("variant.json", json);
        return checked({with.bytes(), filename.substr(0, filename.size() - 4) + "-" + label + ".whl"},
                       options);
    };
    const std::string v3 = variant_json("x86_64", R"("v3":{"x86_64":{"level":["v3"]}})");
    const inspect::Inspection taken = labelled("v3", v3);
    CHECK(taken.accepted());
    CHECK(taken.facts.variant == v3);
    CHECK(labelled("v4", v3).refused());
}

// The file is the index's of four wheels, by variantlib 0.2.2 (tests/store/catalog/data).
TEST_CASE("what is written of a label is what variantlib writes of it, and is read again") {
    const auto text = base::read_file(
        std::string(WHEELYARD_TEST_DATA) + "/store/catalog/data/variantlib-0.2.2.json", 1u << 20);
    REQUIRE(text.has_value());
    const io::Json expected = io::parse_json(*text).value();
    for (const auto& [label, properties] : *expected.find("variants")->as_object()) {
        CAPTURE(label);
        io::Json one = expected;
        one.set("variants", io::Json::object({{label, properties}}));
        const auto theirs = inspect::parse_variant_json(one.render(), label);
        REQUIRE(theirs.has_value());
        const std::string written = inspect::render_variant_json({label, theirs->properties});
        const io::Json ours = io::parse_json(written).value();
        CHECK(*ours.find("variants") == *one.find("variants"));
        CHECK(*ours.find("providers") == *one.find("providers"));
        const auto read = inspect::parse_variant_json(written, label);
        REQUIRE_MESSAGE(read.has_value(), read.error().text());
        CHECK(read->properties == theirs->properties);
    }
}
