// recipes/NAME.toml: how one package is built and tried. Every key is described in docs/formats/recipe.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

enum class SourceKind { sdist, tarball, path };
[[nodiscard]] std::string_view source_kind_text(SourceKind kind);

struct Recipe {
    std::string package;         // normalised
    std::filesystem::path file;  // empty: the default recipe

    SourceKind source = SourceKind::sdist;
    std::string url;                            // tarball: "{version}" stands for the version
    std::filesystem::path path;                 // path: a folder with the project
    std::map<std::string, std::string> sha256;  // version → digest of its sdist or tarball

    std::vector<std::string> build_requires;  // beside those of pyproject.toml
    Environment build_environment;
    std::string front_end = "pip-wheel";
    bool governor = true;  // false: built without it, though the site uses it

    // What its jobs ask for; 0: as the site says.
    int cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t minutes = 0;

    std::vector<std::string> imports;  // modules that must import from the installed wheel
    std::string
        test_command;  // bash, run in an empty folder with the wheel's venv first on PATH; may be empty

    [[nodiscard]] bool is_default() const { return file.empty(); }
    // The digest that the recipe states for `version`, or empty.
    [[nodiscard]] std::string pinned_sha256(const std::string& version) const;
};

[[nodiscard]] base::Result<Recipe> parse_recipe(std::string_view text, const std::filesystem::path& file);

// For a package that no folder has a recipe for: its sdist, and an import guessed from the name ("a-b" →
// a_b).
[[nodiscard]] Recipe default_recipe(const std::string& package);

class Recipes {
  public:
    // All *.toml in `folders`; of two recipes for one package the later folder's wins (a site overrides the
    // common ones).
    [[nodiscard]] static base::Result<Recipes> read(const std::vector<std::filesystem::path>& folders);
    void add(Recipe recipe);
    [[nodiscard]] Recipe of(const std::string& package) const;  // the default recipe when there is none

  private:
    std::map<std::string, Recipe> by_package_;
};

}  // namespace wheelyard::builder
