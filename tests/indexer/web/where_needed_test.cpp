// Markers as METADATA of real projects has them. What is expected is what packaging's Marker.evaluate() says for each Python and
// machine (pip's own).
#include "indexer/web/where_needed.hpp"

#include <doctest/doctest.h>

#include "lib/wheel/requirement.hpp"

using wheelyard::indexer::where_needed;
using wheelyard::indexer::WhereNeeded;

namespace {

std::string text_of(const WhereNeeded& where) {
    if (where.nowhere) return "nowhere";
    if (where.is_open) return "open";
    return "python " + where.pythons + " machine " + where.machines;
}

std::string judged(const char* marker) {
    const auto requirement = wheelyard::wheel::Requirement::parse(std::string("numpy ; ") + marker);
    REQUIRE(requirement.has_value());
    return text_of(where_needed(requirement->marker));
}

}  // namespace

TEST_CASE(
    "a marker is judged for the Pythons and machines of Linux; what an extra or a variant decides stays "
    "open") {
    struct Row {
        const char *marker, *where;
    };
    const Row rows[] = {
        {"python_version < '3.9'", "python -8 machine "},
        {"python_version >= \"3.10\"", "python 10- machine "},
        {"python_version >= '3.8' and python_version < '3.12'", "python 8-11 machine "},
        {"python_version == '3.11'", "python 11-11 machine "},
        {"python_version != '3.11'", "open"},
        {"python_version < '3'", "nowhere"},
        {"python_version > '2.7'", "python  machine "},
        // 3.11.0 needs it, 3.11.4 does not: the reader's Python may be either.
        {"python_full_version < '3.11.4'", "python -11 machine "},
        {"python_full_version >= '3.11.4'", "python 11- machine "},
        {"sys_platform == 'win32'", "nowhere"},
        {"sys_platform == 'darwin' and platform_machine == 'arm64'", "nowhere"},
        {"sys_platform == 'linux'", "python  machine "},
        {"os_name == 'nt' or python_version < '3.8'", "python -7 machine "},
        {"platform_system == 'Linux' and platform_machine == 'x86_64'", "python  machine x86_64"},
        {"platform_machine == 'x86_64' and python_version < '3.12'", "python -11 machine x86_64"},
        {"platform_machine == 'x86_64' or python_version < '3.12'", "open"},
        {"implementation_name == 'pypy'", "nowhere"},
        {"platform_python_implementation != 'PyPy'", "python  machine "},
        {"extra == 'test'", "open"},
        {"python_version < '3.9' and extra == 'test'", "open"},
        {"platform_release >= '5.4'", "open"},
        {"'nvidia' in variant_namespaces", "open"},
    };
    for (const auto& [marker, where] : rows)
        CHECK_MESSAGE(judged(marker) == where, marker);
    CHECK(text_of(where_needed(std::nullopt)) == "python  machine ");
}
