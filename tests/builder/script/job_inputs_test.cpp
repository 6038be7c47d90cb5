// The patches of a job: their order, what a quilt series may say, and that a wildcard finds them in order.
#include "builder/script/job_inputs.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct Folder {
    base::TempDir folder = *base::TempDir::make("patches");
    Recipe recipe = default_recipe("demo");

    // A recipe whose patches are those of the series `text`.
    [[nodiscard]] base::Result<std::vector<fs::path>> find(const std::string& text) {
        testing::write(folder.path() / "beside/debian/patches/series", text);
        recipe.patches = {{{}, "debian/patches/series", {}}};
        return find_patches(recipe, "1.0", folder.path() / "beside");
    }
};

TEST_CASE("a series gives its patches in its own order, without comments") {
    Folder demo;
    const auto found = demo.find("# first\n\nz.patch\n  a.patch -p1  # why\nsub/b.patch\n");
    REQUIRE_MESSAGE(found.has_value(), found.error().text());
    const fs::path patches = demo.folder.path() / "beside/debian/patches";
    CHECK(*found == std::vector<fs::path>{patches / "z.patch", patches / "a.patch", patches / "sub/b.patch"});
    CHECK(find_patches(demo.recipe, "1.0")->empty());
}

TEST_CASE("a series that is absent, empty, leaves its folder, or needs another option is refused") {
    for (const char* text :
         {"", "# nothing\n", "../../evil.patch\n", "/etc/passwd\n", "a.patch -p0\n", "a.patch -R\n"}) {
        CAPTURE(text);
        Folder demo;
        const auto found = demo.find(text);
        REQUIRE(!found.has_value());
        CHECK(found.error().code == "recipe.patch");
    }
    Folder demo;
    REQUIRE(demo.find("a.patch\n").has_value());
    for (const char* series : {"debian/none", "../debian/patches/series", "debian/patches"}) {
        CAPTURE(series);
        demo.recipe.patches.front().series = series;
        const auto found = find_patches(demo.recipe, "1.0", demo.folder.path() / "beside");
        REQUIRE(!found.has_value());
        CHECK(found.error().code == "recipe.patch");
    }
}

TEST_CASE("a series of more patches than a number has digits for is refused") {
    Folder demo;
    std::string text;
    for (std::size_t i = 0; i < max_patches; ++i)
        text += "a.patch\n";
    CHECK(demo.find(text).has_value());
    CHECK(!demo.find(text + "a.patch\n").has_value());
}

TEST_CASE("a wildcard finds 120 patches in the order in which they apply") {
    const auto folder = *base::TempDir::make("patches");
    std::vector<fs::path> patches;
    for (int i = 0; i < 120; ++i) {
        patches.push_back(folder.path() / ("p" + std::to_string(1000 - i)));
        testing::write(patches.back(), std::to_string(i));
    }
    REQUIRE(put_patches(patches, folder.path()).has_value());
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path() / "patches"))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    REQUIRE(names.size() == patches.size());
    CHECK(names.front().starts_with("0001-"));
    for (std::size_t i = 0; i < names.size(); ++i)
        CHECK(names[i].substr(5) == patches[i].filename().string());
}

TEST_CASE("patches that the recipe no longer names are not applied") {
    const base::TempDir folder = *base::TempDir::make("patches");
    testing::write(folder.path() / "one.patch", "1");
    testing::write(folder.path() / "two.patch", "2");
    const auto into = folder.path() / "build";
    testing::must(put_patches({folder.path() / "one.patch", folder.path() / "two.patch"}, into));
    testing::must(put_patches({folder.path() / "two.patch"}, into));
    const auto only = *fs::directory_iterator(into / "patches");
    CHECK(std::distance(fs::directory_iterator(into / "patches"), fs::directory_iterator()) == 1);
    CHECK(testing::read(only.path()) == "2");
    testing::must(put_patches({}, into));
    CHECK_FALSE(fs::exists(into / "patches"));
}

TEST_CASE("the digest of patches changes with a name, a byte and their order") {
    const auto folder = *base::TempDir::make("patches");
    const fs::path a = folder.path() / "a", b = folder.path() / "b";
    testing::write(a, "1");
    testing::write(b, "2");
    CHECK(digest_of_patches({})->empty());
    const std::string digest = *digest_of_patches({a, b});
    CHECK(digest != *digest_of_patches({b, a}));
    testing::write(b, "3");
    CHECK(digest != *digest_of_patches({a, b}));
}

}  // namespace
}  // namespace wheelyard::builder
