// Long lines of a help text are broken so that they read as before, and examples so that they can be pasted.
#include "lib/base/text/usage.hpp"

#include <doctest/doctest.h>

namespace wheelyard::base {
namespace {

TEST_CASE("each kind of line is broken in its own way; short lines stay") {
    struct Row {
        const char *given, *wrapped;
    };
    const Row rows[] = {
        {"", ""},
        {"a b\n", "a b\n"},
        {"one two three four five six seven", "one two three four five six\nseven"},
        {"  --name FILE   one two three four five",
         "  --name FILE   one two three\n                four five"},
        {"                        one two three",
         "                        one\n                        two\n"
         "                        three"},
        {"  wheelyard-builder plan --site site.toml --explain",
         "  wheelyard-builder plan \\\n      --site site.toml \\\n      --explain"},
        {"  tool 'one two three four five six seven eight'",
         "  tool \\\n      'one two three four five six seven eight'"},
        {"  tool --name FILE --recursive --deep     shows one",
         "  tool --name FILE \\\n      --recursive --deep\n                    shows one"},
        {"  - one two three four five six seven", "  - one two three four five\n    six seven"},
        {"unbreakable-unbreakable-unbreakable-unbreakable",
         "unbreakable-unbreakable-unbreakable-unbreakable"},
        {"\u201cé\u201d \u201cé\u201d \u201cé\u201d \u201cé\u201d \u201cé\u201d",
         "\u201cé\u201d \u201cé\u201d \u201cé\u201d \u201cé\u201d \u201cé\u201d"},
    };
    for (const auto& row : rows)
        CHECK(wrap_help(row.given, 30) == row.wrapped);
}

}  // namespace
}  // namespace wheelyard::base
