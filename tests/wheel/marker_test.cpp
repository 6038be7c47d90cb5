// Environment markers compared with `packaging` in six environments, and the limits of the parser.
#include "lib/wheel/marker.hpp"

#include "lib/wheel/limits.hpp"
#include "tests/wheel/marker_environments.hpp"

namespace wheelyard::wheel {
namespace {

bool holds(const std::string& text, const MarkerEnvironment& environment) {
    const auto marker = Marker::parse(text);
    REQUIRE_MESSAGE(marker.has_value(), text);
    return marker->evaluate(environment);
}

Marker parsed(const std::string& text) {
    auto marker = Marker::parse(text);
    REQUIRE_MESSAGE(marker.has_value(), text);
    return *std::move(marker);
}

std::string nested(std::size_t depth) {
    return std::string(depth, '(') + "os_name == 'posix'" + std::string(depth, ')');
}

}  // namespace

TEST_CASE("markers are accepted and evaluated as by packaging") {
    const auto rows = test::read_golden("markers.txt");
    const auto environments = test::marker_environments(rows);
    std::size_t evaluated = 0;
    for (std::size_t i = environments.size(); i < rows.size(); ++i) {
        const auto& text = rows[i][0];
        const auto marker = Marker::parse(text);
        CHECK_MESSAGE(marker.has_value() == (rows[i][1] != "!"), text);
        if (!marker || rows[i][1] == "!") continue;
        CHECK_MESSAGE(test::verdicts(*marker, environments) == rows[i][1], text);
        const auto again = Marker::parse(marker->text());
        REQUIRE_MESSAGE(again.has_value(), marker->text());
        CHECK(again->text() == marker->text());
        CHECK_MESSAGE(test::verdicts(*again, environments) == rows[i][1], marker->text());
        ++evaluated;
    }
    CHECK(evaluated > 250);
}

TEST_CASE("two variables or two literals compare by their values") {
    const MarkerEnvironment environment{
        {"os_name", "linux"}, {"sys_platform", "linux"}, {"python_version", "3.11"}};
    CHECK(holds("os_name == sys_platform", environment));
    CHECK(holds("'a' in 'cat'", environment));
    CHECK_FALSE(holds("'a' == 'b'", environment));
    CHECK(holds("'3.9' < python_version", environment));
    CHECK_FALSE(holds("'3.12' < python_version", environment));
}

TEST_CASE("a variable that is missing from the environment is empty") {
    CHECK(holds("extra == ''", {}));
    CHECK_FALSE(holds("extra == 'test'", {}));
    CHECK_FALSE(holds("python_version >= '3'", {}));
    CHECK(Marker().evaluate({}));
    CHECK(Marker().text().empty());
}

TEST_CASE("extras compare by their normalised names") {
    CHECK(holds("extra == 'Dev.Tools'", {{"extra", "dev_tools"}}));
    CHECK(holds("'Dev-Tools' == extra", {{"extra", "DEV--TOOLS"}}));
    CHECK_FALSE(holds("extra == 'dev'", {{"extra", "dev-tools"}}));
}

TEST_CASE("the variables of a lock are sets of names") {
    CHECK(holds("'dev' in dependency_groups", {{"dependency_groups", "dev docs"}}));
    CHECK(holds("'Dev.Tools' in extras", {{"extras", "dev-tools"}}));
    CHECK_FALSE(holds("'dev' in extras", {{"extras", "dev-tools"}}));
    CHECK_FALSE(holds("'dev' in dependency_groups", {}));
    CHECK(holds("'dev' not in dependency_groups", {}));
    for (const char* text :
         {"extras == 'x'", "dependency_groups in 'dev'", "os_name in extras", "'a' < extras"})
        CHECK_MESSAGE(!Marker::parse(text).has_value(), text);
}

TEST_CASE(
    "the variables of a variant are its label and sets of its properties, which are empty without a label") {
    // PEP 825, "Environment markers"; uv's and variantlib's test data have the same spellings.
    MarkerEnvironment environment;
    set_variant(environment, "fast",
                {{"gpu", "cuda", "12.0"}, {"gpu", "cuda", "13.0"}, {"x86_64", "level", "v3"}});
    struct Row {
        const char* marker;
        bool of_variant, of_others;
    };
    for (const auto& [marker, of_variant, of_others] :
         {Row{"'gpu' in variant_namespaces", true, false}, Row{"'cpu' in variant_namespaces", false, false},
          Row{"'gp' in variant_namespaces", false, false}, Row{"'cpu' not in variant_namespaces", true, true},
          Row{"'gpu :: cuda' in variant_features", true, false},
          Row{"'gpu::  cuda' in variant_features", true, false},
          Row{"'gpu' in variant_features", false, false},
          Row{"'gpu :: cuda :: 13.0' in variant_properties", true, false},
          Row{"'gpu :: cuda :: 13' in variant_properties", false, false},
          Row{"'x86_64 ::level:: v3' in variant_properties", true, false},
          Row{"'x86-64 :: level :: v3' in variant_properties", false, false},
          Row{"variant_label == 'fast'", true, false}, Row{"variant_label != 'null'", true, true},
          Row{"variant_label == ''", false, true}, Row{"variant_label in 'fast slow'", true, true},
          Row{"'slow' in variant_label", false, false}}) {
        CAPTURE(marker);
        CHECK(holds(marker, environment) == of_variant);
        CHECK(holds(marker, {}) == of_others);
        CHECK(parsed(parsed(marker).text()).evaluate(environment) == of_variant);
        CHECK(parsed(marker).undefined_comparison(true).empty());
        CHECK(parsed(marker).undefined_comparison() == parsed(marker).text());  // pip knows none of them
    }
    for (const char* text : {"variant_namespaces == 'gpu'", "variant_features in 'gpu :: cuda'",
                             "os_name in variant_properties", "variant_labels == 'x'"})
        CHECK_MESSAGE(!Marker::parse(text).has_value(), text);
    CHECK_FALSE(parsed("variant_label ~= '1.0'").undefined_comparison(true).empty());
}

TEST_CASE("a marker is rendered in its normal form") {
    const auto text = [](const char* marker) { return Marker::parse(marker)->text(); };
    CHECK(text("os.name=='posix'") == "os_name == \"posix\"");
    CHECK(text("python_implementation != 'it\"s'") == "platform_python_implementation != 'it\"s'");
    CHECK(text("extra == 'Foo_Bar'") == "extra == \"foo-bar\"");
    CHECK(text("((os_name == 'a') and (os_name == 'b' or (os_name not   in 'c')))") ==
          "os_name == \"a\" and (os_name == \"b\" or os_name not in \"c\")");
}

TEST_CASE("errors include the position") {
    const auto refused = Marker::parse("os_name == 'posix' and banana == '1'");
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == "marker.invalid");
    CHECK(refused.error().sentence.find("byte 24") != std::string::npos);
    for (const char* text : {"os_name == 'a\\'b'", "os_name == 'a\nb'", "os_name == 'a\x7F'",
                             "os_name == 'a\u202e'", "extras == 'x'", "os_name == \"a"}) {
        CHECK_MESSAGE(!Marker::parse(text).has_value(), text);
    }
}

TEST_CASE("a comparison that packaging raises an exception for is found, wherever it is") {
    // As evaluated by packaging 26.3, which pip 26.3 contains.
    for (const char* text :
         {"python_version ~= 'abc'", "platform_machine ~= 'x86'", "os_name ~= '1.0'", "python_version ~= '3'",
          "'a' == 'b'", "'3.8' < '3.9'", "os_name === 'posix'", "'linux' ~= sys_platform", "extra ~= '1.0'",
          "python_full_version ~= '3.8.*'", "python_version ~= ''", "python_version ~= os_name",
          "python_version ~= '3.8.1.dev0+local'", "os_name == 'nt' and (os_name ~= 'x' or os_name == 'a')",
          "'x' in extras", "os_name == 'nt' or 'dev' not in dependency_groups"}) {
        CAPTURE(text);
        CHECK_FALSE(parsed(text).undefined_comparison().empty());
    }
    for (const char* text :
         {"python_version ~= '3.8'", "python_version === 'foo'", "platform_release >= '5.0'",
          "platform_version > '#1 SMP'", "os_name > 'posix'", "python_version >= '3.8.*'", "extra == 'x'",
          "implementation_version >= 'x'", "'2.7' ~= python_version", "platform_release ~= '5.0'",
          "python_version == os_name", "python_version in '2.7 3.8'", "os_name == 'nt' or extra == 'a'"}) {
        CAPTURE(text);
        CHECK(parsed(text).undefined_comparison().empty());
    }
    CHECK(parsed("extra == 'a' and os.name ~= 'x'").undefined_comparison() == "os_name ~= \"x\"");
}

TEST_CASE("nesting and length are bounded") {
    CHECK(Marker::parse(nested(max_marker_nesting)).has_value());
    CHECK_FALSE(Marker::parse(nested(max_marker_nesting + 1)).has_value());
    CHECK(Marker::parse(std::string(max_marker_bytes + 1, ' ')).error().code == "marker.too_long");
    CHECK_FALSE(Marker::parse(std::string(max_marker_bytes, '(')).has_value());
    std::string many = "os_name == 'posix'";
    while (many.size() + 30 < max_marker_bytes)
        many += " and os_name == 'posix'";
    CHECK(holds(many, {{"os_name", "posix"}}));
}

}  // namespace wheelyard::wheel
