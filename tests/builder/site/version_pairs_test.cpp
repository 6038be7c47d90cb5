// versions.toml: what is accepted, which rows apply, and the generated page.
#include "builder/site/version_pairs.hpp"

#include <doctest/doctest.h>

#include <set>

#include "builder/site/recipe.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

const std::string good = R"(config_version = 1
pair = [
    { package = "Torch", versions = "<2.7", with = "cmake", allowed = "<4", use = "build", source = "a", why = "old" },
    { package = "torch", with = "setuptools", allowed = "<82", source = "a" },
    { package = "vision", with = "setuptools", allowed = "<70", source = "a" },
    { package = "torch", versions = "<2.3", with = "numpy", allowed = "<2", use = "run", source = "a" },
    { package = "vision", versions = "==0.19.0", with = "torch", allowed = "==2.4.0", use = "companion", source = "a" },
]
[sources]
a = "https://a.example"
)";

std::vector<VersionPair> parsed(const std::string& text = good) {
    auto pairs = parse_version_pairs(text, "/etc/versions.toml");
    REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
    return *pairs;
}

std::vector<VersionPair> of_repository() {
    const auto pairs =
        read_version_pairs(fs::path(WHEELYARD_TEST_DATA) / "../site-configs/common/versions.toml");
    REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
    return *pairs;
}

std::vector<std::string> bounds(const std::vector<std::string>& installed,
                                const std::vector<VersionPair>& pairs,
                                const std::vector<PairUse>& uses = {PairUse::build, PairUse::run}) {
    std::vector<PackageVersion> packages;
    for (const auto& requirement : installed)
        packages.push_back(*exact_version(requirement));
    return constraints_of(pairs_for(pairs, packages, uses));
}

TEST_CASE("a row names its package, its source and its place") {
    const auto pairs = parsed();
    REQUIRE(pairs.size() == 5);
    CHECK(pairs[0].text() == "cmake<4 (torch<2.7: old; https://a.example; /etc/versions.toml:3:5)");
    CHECK(pairs[1].use == PairUse::build);
}

TEST_CASE("an invalid row is rejected with its position") {
    struct Row {
        const char* from;
        const char* to;
        const char* message;
    };
    const Row rows[] = {
        {"\"<2.7\"", "\"2.7\"", "expected a specifier such as `>=2.3,<2.6`, found `2.7`"},
        {"allowed = \"<4\"", "allowed = \"\"", "expected a specifier"},
        {"use = \"run\"", "use = \"runs\"", "did you mean `run`"},
        {"\"==0.19.0\"", "\">=0.19.0\"", "a companion has one row for each version"},
        {"\"==0.19.0\"", "\"==0.19.*\"", "a companion has one row for each version"},
        {"\"==0.19.0\"", "\"==0.19.0,!=0.19.1\"", "a companion has one row for each version"},
        {"source = \"a\", why", "source = \"b\", why", "no such key in [sources]: `b`"},
        {"\"Torch\"", "\"-\"", "expected a project name (PEP 508), found `-`"},
        {"why = \"old\"", "reason = \"old\"", "reason"},
        {"allowed = \"<82\"", "allowed = \"<82\", stable_abi = true",
         "only a companion is built against another"},
        {"allowed = \"<82\"", "use = \"limit\"", "a limit has `why`, and no `allowed`"},
        {"allowed = \"<82\"", "allowed = \"<82\", use = \"limit\", why = \"w\"", "and no `allowed`"},
        {"allowed = \"<82\", ", "", "expected a specifier such as"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.to);
        const auto pairs =
            parse_version_pairs(base::replace_all(good, row.from, row.to), "/etc/versions.toml");
        REQUIRE(!pairs.has_value());
        CHECK_MESSAGE(pairs.error().text().find(row.message) != std::string::npos, pairs.error().text());
        CHECK(pairs.error().text().find("/etc/versions.toml:") != std::string::npos);
    }
}

TEST_CASE(
    "the rows of every package that is built or built against apply, one constraint for each requirement") {
    using Names = std::vector<std::string>;
    CHECK(bounds({"torch==2.2.2+cu122"}, parsed()) == Names{"cmake<4", "numpy<2", "setuptools<82"});
    CHECK(bounds({"torch==2.7.0"}, parsed()) == Names{"setuptools<82"});
    CHECK(bounds({"vision==0.19.0", "torch==2.4.0"}, parsed()) == Names{"cmake<4", "setuptools<82,<70"});
    CHECK(bounds({"torch==2.2.2"}, parsed(), {PairUse::run}) == Names{"numpy<2"});
    CHECK(bounds({"other==1.0"}, parsed()).empty());
    CHECK(!exact_version("torch>=2").has_value());
    CHECK(!exact_version("").has_value());
}

TEST_CASE("a recipe gets the companions of the table, and its own rows stay") {
    Recipe vision;
    vision.package = "vision";
    vision.against = "torch";
    vision.against_versions = {{"0.20.0", "==2.5.0"}};
    Recipes recipes;
    recipes.add(vision);
    recipes.add_companions(parsed());
    const Recipe with = recipes.of("vision");
    CHECK(with.against_versions.at("0.19.0") == "==2.4.0");
    CHECK(with.against_versions.at("0.20.0") == "==2.5.0");
    CHECK(with.stable_abi.empty());
    Recipes loose;
    vision.against_versions.clear();
    loose.add(vision);
    loose.add_companions(
        parsed(base::replace_all(good, "use = \"companion\"", "use = \"companion\", stable_abi = true")));
    CHECK(loose.of("vision").stable_abi == std::set<std::string>{"0.19.0"});
}

TEST_CASE("what breaks the torch versions that the sites want is bounded") {
    const auto pairs = of_repository();
    for (const char* torch :
         {"torch==1.13.1", "torch==2.0.1", "torch==2.3.0", "torch==2.3.1", "torch==2.4.0"}) {
        CAPTURE(torch);
        std::string all;
        for (const auto& one : bounds({torch}, pairs))
            all += one + " ";
        CHECK(all.find("cmake<4 ") != std::string::npos);
        CHECK(all.find("setuptools<") != std::string::npos);
    }
    const auto old = bounds({"horovod==0.28.1", "torch==1.13.1"}, pairs);
    CHECK(old == std::vector<std::string>{"cmake<4", "numpy<2", "setuptools<70,<82", "wheel<0.46"});
}

TEST_CASE("every row of the table has a source on the web, and no row is there twice") {
    std::set<std::string> seen;
    for (const auto& pair : of_repository()) {
        CAPTURE(pair.text());
        CHECK(pair.source.starts_with("https://"));
        const std::string what = pair.use == PairUse::limit ? pair.why : pair.allowed;
        CHECK(seen.insert(pair.package + pair.versions + pair.with + what).second);
    }
    CHECK(seen.size() > 50);
}

TEST_CASE("docs/reference/version-pairs.md is up to date with the table") {
    CHECK(test_support::page_difference("reference/version-pairs.md",
                                        render_version_pairs_markdown(of_repository())) == "");
}

}  // namespace
}  // namespace wheelyard::builder
