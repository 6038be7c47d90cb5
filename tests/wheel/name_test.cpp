// Project names: validity, and the two normal forms.
#include "lib/wheel/name.hpp"

#include <doctest/doctest.h>

namespace wheelyard::wheel {

TEST_CASE("a name begins and ends with a letter or digit") {
    for (const char* name : {"a", "7", "Foo", "foo-bar", "foo.bar", "foo_bar", "foo--bar", "a.-_b", "0x0"}) {
        CHECK_MESSAGE(is_valid_name(name), name);
    }
    for (const char* name : {"", "-", "-foo", "foo-", ".foo", "foo.", "_foo", "foo_", "foo bar", "foo/bar",
                             "foo\n", "fo\xC3\xB6", "foo+bar"}) {
        CHECK_MESSAGE(!is_valid_name(name), name);
    }
    CHECK(!is_valid_name(std::string_view("a\0b", 3)));
}

TEST_CASE("every run of separators is one dash in the normal name and one underscore in file names") {
    struct Row {
        const char* written;
        const char* normal;
        const char* escaped;
    };
    const Row rows[] = {{"Foo", "foo", "foo"},
                        {"Foo__Bar.baz", "foo-bar-baz", "foo_bar_baz"},
                        {"friendly-bard", "friendly-bard", "friendly_bard"},
                        {"FRIENDLY.-_.bard", "friendly-bard", "friendly_bard"},
                        {"a", "a", "a"},
                        {"ruamel.yaml.clib", "ruamel-yaml-clib", "ruamel_yaml_clib"}};
    for (const auto& row : rows) {
        CHECK(normalize_name(row.written) == row.normal);
        CHECK(escape_name(row.written) == row.escaped);
        CHECK(normalize_name(row.escaped) == row.normal);
    }
}

}  // namespace wheelyard::wheel
