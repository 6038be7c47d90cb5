// JSON: strict parsing, exact rendering.
#include "lib/io/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "tests/support/sanitizers.hpp"

using namespace wheelyard::io;

TEST_CASE("every kind of value is parsed and rendered unchanged") {
    for (const char* text :
         {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "1.5", "-0.25",
          "1e+300", "\"\"", "\"a\"", "[]", "{}", "[1,[2,[3]],{}]", R"({"b":1,"a":{"z":null,"y":[true]}})",
          R"("\"\\\b\f\n\r\t\u0001\u007f/é")"}) {
        CAPTURE(text);
        const auto value = parse_json(text);
        REQUIRE(value);
        CHECK(value->render() == text);
        CHECK(parse_json(value->render_pretty()) == *value);
    }
}

TEST_CASE("members keep their order, and the last of duplicates wins") {
    CHECK(parse_json(R"({"z":1,"a":2,"m":3})").value().render() == R"({"z":1,"a":2,"m":3})");
    CHECK(parse_json(R"({"a":1,"b":2,"a":3})").value().render() == R"({"b":2,"a":3})");
    std::string many = "{";
    for (int i = 0; i < 50'000; ++i)
        many += "\"k" + std::to_string(i % 40'000) + "\":" + std::to_string(i) + ",";
    many += "\"end\":1}";
    const auto value = parse_json(many).value();
    CHECK(value.as_object()->size() == 40'001);
    CHECK(value.int_at("k0") == 40'000);
}

TEST_CASE("the strict parser refuses a name that comes twice, however large or deep the object") {
    const JsonLimits limits;
    CHECK(parse_strict_json(R"({"a":{"b":1},"c":{"b":1}})", limits).has_value());
    std::string many = "{";
    for (int i = 0; i < 40; ++i)
        many += "\"m" + std::to_string(i) + "\":1,";
    for (const std::string& text :
         {std::string(R"({"a":1,"a":1})"), std::string(R"([{"x":{"a":1,"b":2,"a":3}}])"),
          std::string(R"({"a":1,"\u0061":2})"), many + "\"m0\":2}"}) {
        CAPTURE(text);
        const auto refused = parse_strict_json(text, limits);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().code == "json.twice");
        CHECK(parse_json(text).has_value());
    }
}

TEST_CASE("text that RFC 8259 does not allow is rejected") {
    for (const char* refused : {"",
                                " ",
                                "nul",
                                "tru",
                                "01",
                                "+1",
                                "1.",
                                ".5",
                                "0x10",
                                "NaN",
                                "Infinity",
                                "1e999",
                                "'a'",
                                "\"a",
                                "\"\t\"",
                                "\"\\x\"",
                                "\"\\ud800\"",
                                "[1,]",
                                "[,1]",
                                "{\"a\":1,}",
                                "{\"a\"}",
                                "{a:1}",
                                "{1:1}",
                                "[1 2]",
                                "1 2",
                                "[1]]",
                                "/*x*/1",
                                "\"\xFF\"",
                                "\"\xC0\xAF\"",
                                "\"\xED\xA0\x80\"",
                                "[\"a\", // x\n 1]"}) {
        CAPTURE(refused);
        const auto value = parse_json(refused);
        REQUIRE_FALSE(value);
        CHECK(value.error().code == "json.syntax");
    }
    CHECK(parse_json("[1,x]").error().sentence.find("byte 3 ") != std::string::npos);
}

TEST_CASE("size and nesting are bounded") {
    const std::string deep_enough = std::string(64, '[') + std::string(64, ']');
    CHECK(parse_json(deep_enough));
    CHECK(parse_json("[" + deep_enough + "]").error().code == "json.too_deep");
    CHECK(parse_json(std::string(1'000'000, '[')).error().code == "json.too_deep");
    std::string many = "[0";
    for (std::size_t values = 2; values < 4u << 20; ++values)
        many += ",0";
    CHECK(parse_json(many + ",0]").error().code == "json.too_many");
    if (!wheelyard::testing::address_sanitizer) {  // under which ten million values take two minutes
        CHECK(parse_json(many + "]").has_value());
        // Of a text that is large for its number of values, more are taken: these are 18 bytes each.
        many = "[0";
        for (std::size_t values = 2; values < 5u << 20; ++values)
            many += ",\"123456789012345\"";
        CHECK(parse_json(many + "]", {.bytes = 128u << 20}).has_value());
    }
    std::string objects;
    for (int i = 0; i < 100'000; ++i)
        objects += "{\"a\":";
    CHECK(parse_json(objects).error().code == "json.too_deep");
    CHECK(parse_json("[1,2]", {.bytes = 5}));
    CHECK(parse_json("[1,2]", {.bytes = 4}).error().code == "json.too_large");
}

TEST_CASE("numbers beyond 64 bits become doubles, and doubles stay doubles") {
    CHECK(*parse_json("9223372036854775808").value().as_double() == doctest::Approx(9.223372036854775808e18));
    CHECK(*parse_json("18446744073709551615").value().as_double() ==
          doctest::Approx(1.8446744073709551615e19));
    CHECK(parse_json("99999999999999999999999").value().as_double());
    CHECK(*parse_json("1.0").value().as_double() == 1.0);
    CHECK(parse_json("1.0").value().render() == "1.0");
    CHECK(*parse_json("0.1").value().as_double() == 0.1);
    CHECK(parse_json("0.1").value().render() == "0.1");
}

TEST_CASE("values that JSON cannot represent are rendered as valid JSON") {
    CHECK(Json(std::nan("")).render() == "null");
    CHECK(Json(std::numeric_limits<double>::infinity()).render() == "null");
    CHECK(Json("\u009b\u202e\x7f").render_signed() == "\"\u009b\u202e\\u007f\"");
    CHECK(Json("\u009b\u202e\u2069\u200dé").render() == "\"\\u009b\\u202e\\u2069\u200dé\"");
    CHECK(Json("a\xFF\xC3\xA9\xE2\x82z").render() == "\"a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBDz\"");
}

TEST_CASE("the pretty form is indented by two and ends in a line break") {
    const auto value = Json::object(
        {{"a", Json::array_of(std::vector<int>{1, 2})}, {"b", Json::object()}, {"c", Json::array()}});
    CHECK(value.render_pretty() == "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {},\n  \"c\": []\n}\n");
}

TEST_CASE("members are found by name and type, or the error names them") {
    const auto value = parse_json(R"({"name":"six","serial":7,"flag":true,"none":null,"empty":""})").value();
    CHECK(value.string_at("name") == "six");
    CHECK(value.int_at("serial") == 7);
    CHECK(value.string_at("serial").error().code == "json.type");
    CHECK(value.string_at("serial").error().value == "7");
    CHECK(value.int_at("name").error().sentence == "The member `name` is not an integer");
    CHECK(value.string_at("absent").error().code == "json.missing");
    CHECK(value.string_at("none").error().code == "json.missing");
    CHECK(value.int_at("none").error().code == "json.missing");
    CHECK(Json("text").string_at("name").error().code == "json.missing");
    CHECK(value.string_or("absent", "x") == "x");
    CHECK(value.string_or("none", "x") == "x");
    CHECK(value.string_or("empty", "x") == "x");
    CHECK(value.string_or("serial", "x") == "x");
    CHECK(value.int_or("serial", 1) == 7);
    CHECK(value.int_or("name", 1) == 1);
    CHECK(value.bool_or("flag", false));
    CHECK_FALSE(value.bool_or("absent", false));
    CHECK(value.find("none")->is_null());
    CHECK(value.find("absent") == nullptr);
}

TEST_CASE("set replaces or appends, push appends, and both check the kind of the value") {
    auto object = Json::object({{"a", 1}});
    object.set("b", "x");
    object.set("a", 2);
    CHECK(object.render() == R"({"a":2,"b":"x"})");
    auto array = Json::array();
    array.push(1);
    array.push(nullptr);
    CHECK(array.render() == "[1,null]");
    CHECK_THROWS_AS(array.set("a", 1), std::logic_error);
    CHECK_THROWS_AS(object.push(1), std::logic_error);
}
