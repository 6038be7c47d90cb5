// A build resumes only with the settings that its tree was started with.
#include "builder/script/build_key.hpp"

#include <doctest/doctest.h>

#include <set>

#include "lib/base/file.hpp"
#include "lib/base/temp_dir.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("every setting that affects the objects changes the key") {
    Site site;
    site.environment = {{"CC", "gcc-12"}};
    Recipe recipe;
    recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "9.0"}};
    recipe.build_requires = {"numpy"};
    std::set<std::string> keys = {build_key(site, recipe, "/usr/bin/python3")};
    CHECK(keys.contains(build_key(site, recipe, "/usr/bin/python3")));
    const auto is_new = [&](const Site& one_site, const Recipe& one_recipe, const char* python) {
        return keys.insert(build_key(one_site, one_recipe, python)).second;
    };
    CHECK(is_new(site, recipe, "/opt/python3"));
    Site other_site = site;
    other_site.environment = {{"CC", "gcc-13"}};
    CHECK(is_new(other_site, recipe, "/usr/bin/python3"));
    Recipe other = recipe;
    other.build_environment = {{"TORCH_CUDA_ARCH_LIST", "9.0a"}};
    CHECK(is_new(site, other, "/usr/bin/python3"));
    other = recipe;
    other.build_requires = {"numpy", "scipy"};
    CHECK(is_new(site, other, "/usr/bin/python3"));
    // The same words in another list are a different setting.
    other = recipe;
    other.build_environment = {{"CC", "gcc-12"}};
    Site bare = site;
    bare.environment = recipe.build_environment;
    CHECK(is_new(bare, other, "/usr/bin/python3"));
}

TEST_CASE("is_built_by rejects a tree without a key or with a different key") {
    const base::TempDir dir = *base::TempDir::make("key");
    AttemptFolder folder;
    folder.root = dir.path();
    CHECK_FALSE(is_built_by(folder, "abc"));
    testing::write(folder.build_key(), "abc\n");
    CHECK(is_built_by(folder, "abc"));
    CHECK_FALSE(is_built_by(folder, "abd"));
}

}  // namespace
}  // namespace wheelyard::builder
