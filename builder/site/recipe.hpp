// recipes/NAME.toml: how one package is built and tried. Every key is described in docs/reference/recipe.md.
//
// A file is a stack of layers: what it says of every version, then each [[override]] for the versions and
// accelerators it names. A site's file with `extends = true` adds its layers to those of the common file; the
// later layer wins key by key, and environments are merged.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::builder {

// upstream: somebody's wheel is taken as it is, without a build.
enum class SourceKind { sdist, tarball, path, git, upstream };
[[nodiscard]] std::string_view source_kind_text(SourceKind kind);

struct Patches {
    std::filesystem::path pattern;  // "patches/2.3/*": applied in the order of their names
    wheel::SpecifierSet versions;
};

// Another repository that the build needs, in $build/beside/NAME.
struct Beside {
    std::string name;
    std::string url;
    std::string tag;  // or branch
};

// A test in a job of its own, on machines that the build does not need.
struct HardwareTest {
    std::string command;  // bash; {launcher} starts the ranks
    int nodes = 1;
    int ranks_per_node = 1;
    int gpus_per_node = 0;
    std::int64_t minutes = 30;
    std::int64_t memory_mib = 0;  // of each node; 0: what the site gives a job
};

struct Recipe {
    std::string package;         // normalised
    std::filesystem::path file;  // empty: the default recipe

    bool labelled = false;                  // its wheels carry the site's local label
    std::vector<std::string> accelerators;  // kinds it can be built for; empty: it knows of none

    SourceKind source = SourceKind::sdist;
    std::string url;             // tarball, git: "{version}" stands for the version without label
    std::string tag;             // git: "v{version}"
    std::string index;           // upstream: a Simple index; empty: where pip is configured to look
    std::filesystem::path path;  // path: a folder with the project
    std::map<std::string, std::string> sha256;  // version → digest of its sdist or tarball

    // Built after, against and pinned to another package of the same site; empty: to none.
    std::string against;
    std::map<std::string, std::string> against_versions;  // own version → specifier of the other's

    std::vector<std::string> build_requires;      // beside those of pyproject.toml
    std::vector<std::string> requirements_files;  // of the project
    Environment build_environment;
    std::vector<Patches> patches;
    std::vector<Beside> beside;
    std::vector<std::string> before;     // bash, in the project's folder, once for a tree
    std::vector<std::string> configure;  // bash, in the project's folder, before the front end
    std::string front_end = "pip-wheel";
    bool governor = true;  // false: built without it, though the site uses it

    // What its jobs ask for; 0: as the site says.
    int cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t minutes = 0;

    std::vector<std::string> imports;  // modules that must import from the installed wheel
    std::string
        test_command;  // bash, run in an empty folder with the wheel's venv first on PATH; may be empty
    std::vector<std::string> test_requires;  // beside what the wheel asks for
    HardwareTest gpu_test;
    HardwareTest multi_node_test;

    [[nodiscard]] bool is_default() const { return file.empty(); }
    // The digest that the recipe states for `version`, or empty.
    [[nodiscard]] std::string pinned_sha256(const std::string& version) const;
};

// What one layer changes, and when.
struct RecipeLayer {
    wheel::SpecifierSet versions;
    std::vector<std::string> accelerators;  // kinds; empty: any
    std::vector<std::function<void(Recipe&)>> changes;
};

struct RecipeFile {
    std::string package;
    std::filesystem::path file;
    bool extends = false;
    std::vector<RecipeLayer> layers;  // the first has no condition

    // For every version; or for one of them, built for one kind of accelerator.
    [[nodiscard]] Recipe general() const;
    [[nodiscard]] Recipe for_build(const wheel::Version& version, const std::string& accelerator) const;
};

[[nodiscard]] base::Result<RecipeFile> parse_recipe_file(std::string_view text,
                                                         const std::filesystem::path& file);
// The same, folded for every version.
[[nodiscard]] base::Result<Recipe> parse_recipe(std::string_view text, const std::filesystem::path& file);

// For a package that no folder has a recipe for: its sdist, and an import guessed from the name ("a-b" →
// a_b).
[[nodiscard]] Recipe default_recipe(const std::string& package);

class Recipes {
  public:
    // All *.toml in `folders`; of two recipes for one package the later folder's wins (a site overrides the
    // common ones) or, where it says so, extends the earlier one.
    [[nodiscard]] static base::Result<Recipes> read(const std::vector<std::filesystem::path>& folders);
    void add(const Recipe& recipe);
    [[nodiscard]] Recipe of(const std::string& package) const;  // the default recipe when there is none
    // As it is for one version, which may carry a label, and one kind of accelerator ("cpu", "cuda", "rocm").
    [[nodiscard]] Recipe of(const std::string& package, const std::string& version,
                            const std::string& accelerator) const;
    // Those that there is a recipe for, by name.
    [[nodiscard]] std::vector<std::string> packages() const;

  private:
    [[nodiscard]] base::Status take(RecipeFile file);
    std::map<std::string, RecipeFile> by_package_;
};

// The recipe of a package for one of the site's accelerators, by its name; empty: for none of them.
[[nodiscard]] Recipe recipe_for(const Site& site, const Recipes& recipes, const std::string& package,
                                const std::string& version, const std::string& accelerator);

// "2.4.0" of "2.4.0+cu123.gh200".
[[nodiscard]] std::string without_label(const std::string& version);

}  // namespace wheelyard::builder
