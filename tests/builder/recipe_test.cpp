// Recipes: what is accepted, what is refused, and which of two wins.
#include "builder/recipe.hpp"

#include <doctest/doctest.h>

#include "lib/base/temp_dir.hpp"
#include "tests/builder/documented_keys.hpp"

namespace wheelyard::builder {
namespace {

const std::string digest(64, 'a');
const std::string good =
    "config_version = 1\npackage = \"Rapid.Fuzz\"\n[source]\nkind = \"sdist\"\n[source.sha256]\n\"3.14.0\" = "
    "\"" +
    digest +
    "\"\n[build]\nrequires = [\"ninja>=1.11\"]\nenvironment = { A_B = \"1\" }\n[test]\n"
    "import = [\"rapidfuzz.fuzz\"]\ncommand = \"python -c pass\"\n";

std::string complaint(const std::string& text) {
    const auto recipe = parse_recipe(text, "/r/x.toml");
    return recipe ? "" : recipe.error().text();
}

TEST_CASE("a recipe is read") {
    const auto recipe = parse_recipe(good, "/r/x.toml");
    REQUIRE_MESSAGE(recipe.has_value(), recipe.error().text());
    CHECK(recipe->package == "rapid-fuzz");
    CHECK(recipe->source == SourceKind::sdist);
    CHECK(recipe->pinned_sha256("3.14.0") == digest);
    CHECK(recipe->pinned_sha256("3.14.1").empty());
    CHECK(recipe->build_environment == Environment{{"A_B", "1"}});
    CHECK(recipe->imports == std::vector<std::string>{"rapidfuzz.fuzz"});
    CHECK(!recipe->is_default());
}

TEST_CASE("mistakes are refused with their place") {
    struct Row {
        const char* from;
        const char* to;
        const char* told;
    };
    const Row rows[] = {
        {"kind = \"sdist\"", "kind = \"git\"", "tarball"},
        {"kind = \"sdist\"", "kind = \"tarball\"", "url"},
        {"kind = \"sdist\"", "kind = \"path\"", "path"},
        {"\"3.14.0\"", "\"three\"", "three"},
        {digest.c_str(), "abc", "64"},
        {"ninja>=1.11", "ninja==", "PEP 508"},
        {"A_B", "\"A-B\"", "A-B"},
        {"rapidfuzz.fuzz", "rapidfuzz;os", "module"},
        {"command =", "comand =", "command"},
    };
    REQUIRE(complaint(good).empty());
    for (const auto& row : rows) {
        CAPTURE(row.to);
        const std::string told = complaint(base::replace_all(good, row.from, row.to));
        CHECK(told.find(row.told) != std::string::npos);
        CHECK(told.find("x.toml:") != std::string::npos);
    }
}

TEST_CASE("a tarball without any digest is refused") {
    const std::string text =
        "config_version = 1\npackage = \"x\"\n[source]\nkind = \"tarball\"\nurl = "
        "\"https://h/x-{version}.tar.gz\"\n";
    CHECK(complaint(text).find("sha256") != std::string::npos);
}

TEST_CASE("a package without recipe has the default: its sdist, and an import guessed from its name") {
    const Recipe recipe = Recipes().of("zope-interface");
    CHECK(recipe.is_default());
    CHECK(recipe.source == SourceKind::sdist);
    CHECK(recipe.imports == std::vector<std::string>{"zope_interface"});
}

TEST_CASE("the later folder's recipe wins, and a folder that is missing is named") {
    const auto folder = base::TempDir::make("recipes");
    REQUIRE(folder.has_value());
    for (const std::string name : {"common", "site"}) {
        REQUIRE(base::make_directories(folder->path() / name).has_value());
        REQUIRE(
            base::replace_file(folder->path() / name / "x.toml",
                               "config_version = 1\npackage = \"x\"\n[test]\nimport = [\"" + name + "\"]\n")
                .has_value());
    }
    const auto recipes = Recipes::read({folder->path() / "common", folder->path() / "site"});
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    CHECK(recipes->of("x").imports == std::vector<std::string>{"site"});
    const auto missing = Recipes::read({folder->path() / "nowhere"});
    REQUIRE(!missing.has_value());
    CHECK(missing.error().value.find("nowhere") != std::string::npos);
}

TEST_CASE("docs/formats/recipe.md describes exactly the keys that are read") {
    const std::string page = testing::read_repository_file("docs/formats/recipe.md");
    const auto blocks = testing::toml_blocks(page);
    REQUIRE(blocks.size() == 2);
    for (const auto& block : blocks)
        CHECK(complaint(block) == "");
    testing::check_documented(page, testing::read_repository_file("builder/recipe.cpp"));
}

TEST_CASE("the recipes of this repository are read, and pin what their site wants") {
    const auto folder = std::filesystem::path(WHEELYARD_TEST_DATA) / "../site-configs/debian12";
    const auto recipes = Recipes::read({folder / "recipes"});
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    const auto site = read_site(folder / "site.toml");
    REQUIRE(site.has_value());
    for (const auto& want : site->wants) {
        for (const auto& version : want.versions)
            CHECK(!recipes->of(want.package).pinned_sha256(version).empty());
    }
}

}  // namespace
}  // namespace wheelyard::builder
