// Rows go beside their like, and every other byte stays.
#include "builder/pairs/table_text.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

const std::string written = R"(# By people.
config_version = 1
pair = [
    # Compiled against one torch.
    { package = "vision", versions = "==0.19.0", with = "torch", allowed = "==2.4.0", use = "companion", source = "a" }, # tested
    { package = "audio", versions = "==2.4.0", with = "torch", allowed = "==2.4.0", use = "companion", source = "a" },
    # Of the machine.
    { package = "torch", versions = "==2.4.*", with = "cuda", allowed = ">=11.8", use = "machine", source = "b-1" },
]

[sources]
a = "https://a.example/vision/"
"b-1" = "https://b.example/"
)";

VersionPair row(const std::string& package, const std::string& versions, const std::string& source) {
    VersionPair pair;
    pair.package = package;
    pair.versions = versions;
    pair.with = "torch";
    pair.allowed = "==2.5.0";
    pair.use = PairUse::companion;
    pair.source = source;
    return pair;
}

TEST_CASE("a row goes below the last of its package, a new package's below the last of its use") {
    const auto added =
        add_pairs(written, {row("vision", "==0.20.0", "https://a.example/vision/"),
                            row("xformers", "==0.0.28", "https://c.example/simple/xformers/")});
    REQUIRE_MESSAGE(added.has_value(), added.error().text());
    const std::string vision =
        R"(source = "a" }, # tested
    { package = "vision", versions = "==0.20.0", with = "torch", allowed = "==2.5.0", use = "companion", source = "a" },
    { package = "audio")";
    CHECK(added->find(vision) != std::string::npos);
    const std::string xformers =
        R"(    { package = "xformers", versions = "==0.0.28", with = "torch", allowed = "==2.5.0", use = "companion", source = "xformers-releases" },
    # Of the machine.)";
    CHECK(added->find(xformers) != std::string::npos);
    CHECK(added->ends_with("\nxformers-releases = \"https://c.example/simple/xformers/\"\n"));
    const auto parsed = parse_version_pairs(*added, "versions.toml");
    REQUIRE_MESSAGE(parsed.has_value(), parsed.error().text());
    CHECK(parsed->size() == 5);
    // Without the three new lines it is the old table.
    std::string rest = *added;
    for (const char* line : {"==0.20.0", "==0.0.28", "xformers-releases = "}) {
        const auto at = rest.find(line);
        const auto begin = rest.rfind('\n', at) + 1;
        rest.erase(begin, rest.find('\n', at) + 1 - begin);
    }
    CHECK(rest == written);
}

TEST_CASE("another index of a project that has a source gets a key of its own") {
    const std::string mirrored = base::replace_all(base::replace_all(written, "\"a\"", "\"vision-releases\""),
                                                   "\na = ", "\nvision-releases = ");
    const auto added =
        add_pairs(mirrored, {row("vision", "==0.20.0", "https://mirror.example/simple/vision/"),
                             row("vision", "==0.21.0", "https://mirror.example/simple/vision/")});
    REQUIRE_MESSAGE(added.has_value(), added.error().text());
    CHECK(added->ends_with("\nvision-releases-2 = \"https://mirror.example/simple/vision/\"\n"));
    const auto parsed = parse_version_pairs(*added, "versions.toml");
    REQUIRE_MESSAGE(parsed.has_value(), parsed.error().text());
    CHECK(parsed->size() == 5);
}

TEST_CASE("a table that has no such list is left alone, with the row to add by hand") {
    const auto added =
        add_pairs("config_version = 1\n[sources]\n", {row("vision", "==0.20.0", "https://a.example/")});
    REQUIRE(!added.has_value());
    CHECK(added.error().code == "pairs.layout");
    CHECK(added.error().text().find("\"==0.20.0\"") != std::string::npos);
}

}  // namespace
}  // namespace wheelyard::builder
