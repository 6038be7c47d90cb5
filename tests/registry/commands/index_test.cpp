// KEY=VALUE of `wheelyard-registry index`.
#include "registry/commands/index.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;

TEST_CASE("a value is TOML, or else plain text; keys may be dotted and quoted") {
    struct Row {
        std::string text, expected;
    };
    const Row rows[] = {
        {"quota_mib=5", R"({"quota_mib":5})"},
        {"archived=true", R"({"archived":true})"},
        {"title=Wheels of the site", R"({"title":"Wheels of the site"})"},
        {"title=\"5\"", R"({"title":"5"})"},
        {"title=", R"({"title":""})"},
        {"title=a=b", R"({"title":"a=b"})"},
        {"owns=[\"torch\", \"numpy\"]", R"({"owns":["torch","numpy"]})"},
        {"policy.preset=mirror", R"({"policy":{"preset":"mirror"}})"},
        {"policy.\"elf.needed_unknown\"=reject", R"({"policy":{"elf.needed_unknown":"reject"}})"},
        {"upstream=[{name = \"p\"}]", R"({"upstream":[{"name":"p"}]})"},
        {"title", "index.key_value"},
        {"=5", "index.key_value"},
        {"a b=5", "index.key_value"},
    };
    for (const Row& row : rows) {
        const auto patch = registry::parse_key_value(row.text);
        CHECK((patch ? patch->render() : patch.error().code) == row.expected);
    }
}
