// The trees of another history: they go only when the store has their bytes, whenever the server is killed.
#include "registry/serve/own_store.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/digest/digest.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/store/blobs/folder/folder_blobs.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

struct Trees {
    base::TempDir dir = base::TempDir::make("trees").value();
    RegistryConfig config =
        parse_config("config_version = 1\n[[index]]\nname = \"main\"\n", dir.path() / "registry.toml")
            .value();
    blobs::FolderBlobs blobs = blobs::FolderBlobs::open(config.store).value();
    NodeTrees trees{config};
    fs::path aside = trees.open.string() + ".lost";

    // Returns the hash of the wheel, which the tree alone has.
    static std::string show(const fs::path& tree, const std::string& bytes) {
        const std::string sha256 = base::sha256_hex(bytes);
        const fs::path wheel =
            tree / "main/files" / sha256.substr(0, 2) / sha256 / "six-1.0-py3-none-any.whl";
        fs::create_directories(wheel.parent_path());
        REQUIRE(base::replace_file(wheel, bytes));
        REQUIRE(base::replace_file(wheel.native() + ".metadata", "Name: six"));
        return sha256;
    }
};

}  // namespace

TEST_CASE("blobs that only the trees set aside have are stored again before the trees go") {
    Trees registry;
    const std::string sha256 = Trees::show(registry.trees.open, "wheel");
    REQUIRE(set_trees_aside(registry.trees, registry.blobs));
    CHECK(are_trees_aside(registry.trees));
    CHECK_FALSE(fs::exists(registry.trees.open));
    const fs::path staging = registry.config.store / "staging";
    fs::remove_all(staging);
    CHECK_FALSE(list_lost_files(registry.trees, registry.blobs).has_value());
    CHECK(are_trees_aside(registry.trees));
    fs::create_directory(staging);
    REQUIRE(list_lost_files(registry.trees, registry.blobs));
    CHECK_FALSE(are_trees_aside(registry.trees));
    CHECK(registry.blobs.is_intact(sha256));
    CHECK(registry.blobs.is_intact(base::sha256_hex("Name: six")));
    CHECK(base::read_file(registry.config.store / "lost-files.tsv", base::mib).value() ==
          "main\t" + sha256 + "\tsix-1.0-py3-none-any.whl\n");
}

TEST_CASE("a server that was killed while it made the trees again keeps those that it had shown") {
    Trees registry;
    const std::string shown = Trees::show(registry.trees.open, "shown");
    REQUIRE(set_trees_aside(registry.trees, registry.blobs));
    REQUIRE(set_trees_aside(registry.trees, registry.blobs));  // killed between the two trees
    const std::string half = Trees::show(registry.trees.open, "half of the new tree");
    REQUIRE(set_trees_aside(registry.trees, registry.blobs));
    CHECK_FALSE(fs::exists(registry.trees.open));
    CHECK(fs::exists(registry.aside / "main/files" / shown.substr(0, 2) / shown));
    CHECK(registry.blobs.is_intact(half));
    REQUIRE(list_lost_files(registry.trees, registry.blobs));
    CHECK(registry.blobs.is_intact(shown));
}

}  // namespace wheelyard::registry
