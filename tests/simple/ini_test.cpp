// Input that configparser accepts and rejects; pip_config_test.cpp compares with a real pip.
#include "lib/simple/pip_config.hpp"

#include <doctest/doctest.h>

namespace wheelyard::simple {
namespace {

std::string value_of(std::string_view text, const std::string& section, const std::string& option) {
    const auto ini = parse_ini(text, "pip.conf");
    REQUIRE_MESSAGE(ini.has_value(), ini.error().text());
    if (!ini->contains(section)) return "(no section)";
    const auto& options = ini->at(section);
    return options.contains(option) ? options.at(option) : "(absent)";
}

TEST_CASE("options are parsed as by configparser") {
    struct Row {
        const char* text;
        const char* section;
        const char* option;
        const char* value;
    };
    const Row rows[] = {
        {"[global]\nindex-url = https://a/simple\n", "global", "index-url", "https://a/simple"},
        {"[global]\nindex-url: https://a/simple\n", "global", "index-url", "https://a/simple"},
        {"[global]\nINDEX-URL=x\n", "global", "index-url", "x"},
        {"[global]\nfind-links =\n    /a\n    /b\n[install]\nx=1\n", "global", "find-links", "\n/a\n/b"},
        {"[global]\n# a comment\n; another\ntimeout = 5\n", "global", "timeout", "5"},
        {"[global]\nvalue = a # kept\n", "global", "value", "a # kept"},
        {"[global]\na = 1\n\n    continued\n\nb = 2\n", "global", "a", "1\n\ncontinued"},
        {"[DEFAULT]\na = 1\n[x]\nb = 2\n", "x", "a", "1"},
        {"[DEFAULT]\na = 1\n[x]\na = 2\n", "x", "a", "2"},
        {"[global]\r\na = 1\r\n", "global", "a", "1"},
        {"[a] trailing\nb = 1\n", "a", "b", "1"},
        {"[global]\nb =\n", "global", "b", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.text);
        CHECK(value_of(row.text, row.section, row.option) == row.value);
    }
}

TEST_CASE("input that configparser rejects is rejected with the line number") {
    struct Row {
        const char* text;
        const char* place;
    };
    const Row rows[] = {{"index-url = x\n", "pip.conf:1"},
                        {"[a]\nb = 1\nb = 2\n", "pip.conf:3"},
                        {"[a]\nb = 1\n[a]\nc = 1\n", "pip.conf:3"},
                        {"[a]\nno separator\n", "pip.conf:2"},
                        {"[]\n", "pip.conf:1"},
                        {"[a\nb = 1\n", "pip.conf:1"}};
    for (const auto& row : rows) {
        CAPTURE(row.text);
        const auto ini = parse_ini(row.text, "pip.conf");
        REQUIRE(!ini.has_value());
        CHECK(ini.error().code == "ini.syntax");
        CHECK(ini.error().sentence.find(row.place) == 0);
    }
}

}  // namespace
}  // namespace wheelyard::simple
