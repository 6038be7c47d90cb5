// Recipes: which are accepted, which are rejected, and which of two takes precedence.
#include "builder/site/recipe.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/documented_keys.hpp"
#include "tests/support/golden.hpp"

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
    const auto recipe = parse_recipe_file(text, "/r/x.toml");
    return recipe ? "" : recipe.error().text();
}

TEST_CASE("a recipe is parsed") {
    const auto file = parse_recipe_file(good, "/r/x.toml");
    REQUIRE_MESSAGE(file.has_value(), file.error().text());
    const Recipe recipe = file->general();
    CHECK(recipe.package == "rapid-fuzz");
    CHECK(recipe.source == SourceKind::sdist);
    CHECK(recipe.pinned_sha256("3.14.0") == digest);
    CHECK(recipe.pinned_sha256("3.14.1").empty());
    CHECK(recipe.build_environment == Environment{{"A_B", "1"}});
    CHECK(recipe.imports == std::vector<std::string>{"rapidfuzz.fuzz"});
    CHECK(!recipe.is_default());
}

TEST_CASE("an invalid recipe is rejected with the position of the mistake") {
    struct Row {
        const char* from;
        const char* to;
        const char* message;
    };
    const Row rows[] = {
        {"kind = \"sdist\"", "kind = \"svn\"", "tarball"},
        {"kind = \"sdist\"", "kind = \"git\"", "url"},
        {"kind = \"sdist\"", "kind = \"upstream\"\nindx = \"https://h/simple/\"", "index"},
        {"kind = \"sdist\"", "kind = \"git\"\nurl = \"https://h/x\"\ntag = \"v1\"", "a tag with {version}"},
        {"[test]",
         "[[override]]\nversions = \">=1\"\nsource = { kind = \"git\", url = \"https://h/x\", tag = \"v1\" "
         "}\n[test]",
         "a tag with {version}"},
        {"[source]", "accelerators = [\"cudda\"]\n[source]", "cudda"},
        {"[test]", "[[override]]\nversions = \"two\"\n[test]", "two"},
        {"[test]", "[[override]]\nbuild.front_edn = \"build\"\n[test]", "front_end"},
        {"[test]", "[[beside]]\nname = \"..\"\nurl = \"https://h/x\"\ntag = \"v1\"\n[test]", ".."},
        {"[test]", "[[beside]]\nname = \"x\"\nurl = \"https://h/x\"\n[test]",
         "the `tag` of a repository or the"},
        {"[test]", "[[beside]]\nname = \"x\"\nurl = \"https://h/x\"\nsha256 = \"ab\"\n[test]",
         "64 lower-case"},
        {"[test]", "[[patch]]\nversions = \"\"\n[test]", "one of `files` and `series`"},
        {"[test]", "[against]\npackage = \"torch\"\nversions = { \"1.0\" = \"~2\" }\n[test]", "~2"},
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
        const std::string message = complaint(base::replace_all(good, row.from, row.to));
        CHECK(message.find(row.message) != std::string::npos);
        CHECK(message.find("x.toml:") != std::string::npos);
    }
}

TEST_CASE("an upstream source without an index uses pip's, even over a layer that names one") {
    const std::string text = R"(config_version = 1
package = "demo"
[source]
kind = "upstream"
index = "https://h/simple/"
[[override]]
versions = ">=2"
source = { kind = "upstream" }
)";
    const auto file = parse_recipe_file(text, "/r/demo.toml");
    REQUIRE_MESSAGE(file.has_value(), file.error().text());
    CHECK(file->for_build(*wheel::Version::parse("1.0"), "cpu").index == "https://h/simple/");
    CHECK(file->for_build(*wheel::Version::parse("2.0"), "cpu").index.empty());
}

TEST_CASE("a tag that does not name its version is that of one version") {
    const std::string text = R"(config_version = 1
package = "demo"
[source]
kind = "git"
url = "https://h/demo"
tag = "{version}"
[[override]]
versions = "==25.9"
source = { kind = "git", url = "https://h/demo", tag = "25.09" }
)";
    const auto file = parse_recipe_file(text, "/r/demo.toml");
    REQUIRE_MESSAGE(file.has_value(), file.error().text());
    CHECK(file->for_build(*wheel::Version::parse("25.9"), "cuda").tag == "25.09");
    CHECK(file->for_build(*wheel::Version::parse("25.10"), "cuda").tag == "{version}");
}

TEST_CASE("a tarball without a digest is rejected") {
    const std::string text =
        "config_version = 1\npackage = \"x\"\n[source]\nkind = \"tarball\"\nurl = "
        "\"https://h/x-{version}.tar.gz\"\n";
    CHECK(complaint(text).find("sha256") != std::string::npos);
}

TEST_CASE("a package without a recipe gets the default: its sdist, and an import of its own modules") {
    const Recipe recipe = Recipes().of("zope-interface");
    CHECK(recipe.is_default());
    CHECK(recipe.source == SourceKind::sdist);
    CHECK(recipe.imports.empty());
}

TEST_CASE("the recipe of the later folder wins, and a missing folder is named") {
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

TEST_CASE("overrides apply in order to the versions and accelerators that they name") {
    const std::string text = R"(config_version = 1
package = "torch"
[build]
front_end = "setup-py"
environment = { A = "1", B = "1" }
requires = ["ninja"]
[[override]]
versions = ">=2.9"
build.front_end = "build"
[[override]]
accelerators = ["rocm"]
build.environment = { B = "2", C = "3" }
build.before = ["hipify"]
)";
    const auto file = parse_recipe_file(text, "/r/torch.toml");
    REQUIRE_MESSAGE(file.has_value(), file.error().text());
    const auto build = [&](const char* version, const char* accelerator) {
        return file->for_build(*wheel::Version::parse(version), accelerator);
    };
    CHECK(file->general().front_end == "setup-py");
    CHECK(build("2.4.0", "cuda").front_end == "setup-py");
    CHECK(build("2.9.0", "cuda").front_end == "build");
    CHECK(build("2.10.0rc1", "cuda").front_end == "build");
    CHECK(build("2.4.0", "cuda").before.empty());
    CHECK(build("2.4.0", "rocm").before == std::vector<std::string>{"hipify"});
    CHECK(build("2.4.0", "rocm").build_environment == Environment{{"A", "1"}, {"B", "2"}, {"C", "3"}});
    CHECK(build("2.4.0", "rocm").build_requires == std::vector<std::string>{"ninja"});
}

TEST_CASE("a recipe with `extends` extends the common one, and is rejected without one") {
    const auto folder = base::TempDir::make("recipes");
    REQUIRE(folder.has_value());
    const auto put = [&](const std::string& where, const std::string& text) {
        REQUIRE(base::make_directories(folder->path() / where).has_value());
        REQUIRE(base::replace_file(folder->path() / where / "x.toml", text).has_value());
    };
    put("common",
        "config_version = 1\npackage = \"x\"\n[build]\nrequires = [\"ninja\"]\nenvironment = { A = \"1\" "
        "}\n[[beside]]\nname = \"y\"\nurl = \"https://h/y\"\ntag = \"v1\"\n");
    put("site",
        "config_version = 1\npackage = \"x\"\nextends = true\n[build]\nenvironment = { A = \"2\" }\n");
    put("today", "config_version = 1\npackage = \"x\"\nextends = true\nbeside = []\n");
    const auto recipes = Recipes::read({folder->path() / "common", folder->path() / "site"});
    REQUIRE_MESSAGE(recipes.has_value(), recipes.error().text());
    CHECK(recipes->of("x").build_requires == std::vector<std::string>{"ninja"});
    CHECK(recipes->of("x").build_environment == Environment{{"A", "2"}});
    CHECK(recipes->of("x").imports.empty());
    CHECK(recipes->of("x").beside.size() == 1);
    CHECK(recipes->of("x").file.parent_path().filename() == "site");
    const auto today =
        Recipes::read({folder->path() / "common", folder->path() / "site", folder->path() / "today"});
    REQUIRE_MESSAGE(today.has_value(), today.error().text());
    CHECK(today->of("x").beside.empty());
    const auto alone = Recipes::read({folder->path() / "site"});
    REQUIRE(!alone.has_value());
    CHECK(alone.error().code == "config.recipes");
}

TEST_CASE("docs/reference/recipe.md describes exactly the keys that the reader accepts") {
    const auto blocks = testing::toml_blocks(testing::read_repository_file("docs/reference/recipe.md"));
    REQUIRE(blocks.size() == 3);
    for (const auto& block : blocks)
        CHECK(complaint(block) == "");
    CHECK(test_support::keys_difference("reference/recipe.md", "keys", document_recipe_keys()) == "");
}

TEST_CASE("the recipes in this repository are valid and pin the versions that their site wants") {
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
