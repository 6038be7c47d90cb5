// recipes/NAME.toml: how to build and test one package. Each key is a row in recipe_reader.cpp, and the table
// of docs/reference/recipe.md is generated from the rows.
//
// A file is a stack of layers: the top-level keys apply to every version, each [[override]] to the versions
// and accelerators that it names. A later layer overrides single keys; environments are merged. A site's file
// with `extends = true` adds its layers after those of the common file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::builder {

// upstream: the wheel comes from another index and is not built here.
enum class SourceKind { sdist, tarball, path, git, upstream };
inline constexpr auto source_kinds = base::words<SourceKind>({{SourceKind::sdist, "sdist"},
                                                              {SourceKind::tarball, "tarball"},
                                                              {SourceKind::path, "path"},
                                                              {SourceKind::git, "git"},
                                                              {SourceKind::upstream, "upstream"}});

// Exactly one of `pattern` and `series`.
struct Patches {
    std::filesystem::path pattern;  // "patches/2.3/*": applied in the order of the file names
    std::string series;             // "debian/patches/series": quilt's list, in the folder of a [[beside]]
    wheel::SpecifierSet versions;
};

// Another source that the build needs, in $build/beside/NAME. Exactly one of `tag` and `sha256`.
struct Beside {
    std::string name;
    std::string url;
    std::string tag;          // of a repository, which is cloned: a tag or a branch
    std::string sha256 = {};  // of an archive, which is unpacked without its top folder
};

// A test that runs in its own job, on machines that the build does not need.
struct HardwareTest {
    std::string command;  // bash; {launcher} starts the ranks
    int nodes = 1;
    int ranks_per_node = 1;
    int gpus_per_node = 0;
    std::int64_t minutes = 30;
    std::int64_t memory_mib = 0;  // per node; 0: the site's default
};

// Says whether the package's wheel has to have an extension module.
enum class ExtensionWish {
    unsaid,  // a build that begins one and goes on without it fails; a source that could have one gives a notice
    required,  // a pure wheel fails
    optional,  // a pure wheel is as good
};
inline constexpr auto extension_wishes = base::words<ExtensionWish>(
    {{ExtensionWish::required, "required"}, {ExtensionWish::optional, "optional"}});

// Files of the source that Python runs one by one, with the wheel installed, for so long altogether.
struct OwnTests {
    std::vector<std::string> files = {};  // "test/test_indexing.py"; empty: none
    std::int64_t minutes = 10;
    std::vector<std::string> requires_too = {};  // in addition to Recipe::test_requires
};

struct Recipe {
    std::string package;         // normalised
    std::filesystem::path file;  // empty: the default recipe

    bool labelled = false;                  // its wheels carry the site's local version label
    std::vector<std::string> accelerators;  // kinds it can be built for; empty: the package uses none

    SourceKind source = SourceKind::sdist;
    std::string url;                 // tarball, git: "{version}" is replaced by the version without its label
    std::string tag = "v{version}";  // git
    std::string upstream_label;      // upstream: the local label of its wheels: "rocm5.7"
    bool mirrored = false;           // upstream, by Want::from
    std::string upstream_why;        // upstream: why it is not built here, for people
    std::string index;           // upstream: a Simple index; empty: the index that pip is configured to use
    std::filesystem::path path;  // path: the project's folder
    std::map<std::string, std::string> sha256;  // version → SHA-256 of its sdist or tarball

    // The package of the same site that this one is built after, built against and pinned to; empty: none.
    std::string against;
    std::map<std::string, std::string> against_versions;  // own version → specifier of the other package
    std::set<std::string> stable_abi =
        {};  // own versions that work with newer ones of the other package, too

    // What the site has to name for its build: "gdal" → "GDAL_CONFIG", a variable, or "gdal-config", a program.
    std::map<std::string, std::vector<std::string>> needs = {};
    std::vector<std::string> build_requires;      // in addition to those of pyproject.toml
    std::vector<std::string> requirements_files;  // paths inside the project
    Environment build_environment;
    std::vector<Patches> patches;
    std::vector<Beside> beside;
    std::vector<std::string> before;     // bash, run in the project's folder once per build tree
    std::vector<std::string> configure;  // bash, run in the project's folder before the front end
    std::string front_end = "pip-wheel";
    std::optional<BuildHome> home = {};  // nullopt: as the site says
    ExtensionWish extension = ExtensionWish::unsaid;
    bool governor = true;  // false: not built under the governor, even where the site uses it

    // Resources of a build job; 0: the site's default. The site's limits bound them.
    int cores = 0;
    std::int64_t memory_mib = 0;
    std::int64_t minutes = 0;

    // Modules that must import from the installed wheel; empty: those at the wheel's own top level.
    std::vector<std::string> imports;
    // Bash, run in an empty folder with the wheel's venv first on PATH; may be empty.
    std::string test_command;
    std::vector<std::string> promises = {};  // what the site says that the wheel has: "MKL", "MPI"
    std::vector<std::string> test_requires;  // in addition to the wheel's own requirements
    OwnTests own_tests = {};
    HardwareTest gpu_test;
    HardwareTest multi_node_test;
    KeyPlaces places = {};  // of the keys of [resources]: "resources.minutes"

    [[nodiscard]] bool is_default() const { return file.empty(); }
    // An upstream's wheel comes without its source.
    [[nodiscard]] bool runs_own_tests() const {
        return !own_tests.files.empty() && source != SourceKind::upstream;
    }
    // The SHA-256 of the sdist or tarball of `version`; empty where the recipe names none.
    [[nodiscard]] std::string pinned_sha256(const std::string& version) const;
};

// A set of changes and the condition under which they apply.
struct RecipeLayer {
    wheel::SpecifierSet versions;
    std::vector<std::string> accelerators;  // kinds; empty: any
    std::vector<std::function<void(Recipe&)>> changes;
};

struct RecipeFile {
    std::string package;
    std::filesystem::path file;
    bool extends = false;
    std::vector<RecipeLayer> layers;  // the first is unconditional

    // general: only the unconditional layers. for_build: all layers that apply to this version and kind.
    [[nodiscard]] Recipe general() const;
    [[nodiscard]] Recipe for_build(const wheel::Version& version, const std::string& accelerator) const;
};

[[nodiscard]] base::Result<RecipeFile> parse_recipe_file(std::string_view text,
                                                         const std::filesystem::path& file);

// Lines of the table in docs/reference/recipe.md: each key with its type and its default.
[[nodiscard]] std::string document_recipe_keys();

// The recipe of a package that has none: build its sdist and import the wheel's modules.
[[nodiscard]] Recipe default_recipe(const std::string& package);

class Recipes {
  public:
    // Reads all *.toml in `folders`. A recipe in a later folder replaces an earlier one for the same package
    // (a site overrides the common recipes), or extends it if it says `extends = true`. Errors:
    // "config.recipes", and those of io::TomlDocument.
    [[nodiscard]] static base::Result<Recipes> read(const std::vector<std::filesystem::path>& folders);
    void add(const Recipe& recipe);
    // Adds the versions of companions. A version that a recipe's [against.versions] names keeps the recipe's
    // specifier.
    void add_companions(const std::vector<VersionPair>& pairs);
    // Takes the wheels of a package from `from` (Want::from), whatever its recipe builds. Its tests stay.
    void take_upstream(const std::string& package, const std::string& from);
    [[nodiscard]] Recipe of(const std::string& package) const;  // the default recipe when there is none
    // The recipe for one version (its label is ignored) and one kind of accelerator ("cpu", "cuda", "rocm").
    [[nodiscard]] Recipe of(const std::string& package, const std::string& version,
                            const std::string& accelerator) const;
    // All packages that have a recipe, sorted.
    [[nodiscard]] std::vector<std::string> packages() const;

  private:
    [[nodiscard]] base::Status take(RecipeFile file);
    std::map<std::string, RecipeFile> by_package_;
};

// The recipes of the site's folders, with the companions of its version pairs and what its wants take from
// upstream. Errors: those of Recipes::read.
[[nodiscard]] base::Result<Recipes> read_recipes(const Site& site);

// The recipe of a package for the site's accelerator of this name; an unknown or empty name counts as "cpu".
[[nodiscard]] Recipe recipe_for(const Site& site, const Recipes& recipes, const std::string& package,
                                const std::string& version, const std::string& accelerator);

// The indexes that wheels of this recipe, or what it is built against ("torch==2.2.2+rocm5.7"), are taken
// from: only there may be what such a wheel requires, as the Triton of PyTorch's wheels for ROCm is.
[[nodiscard]] std::vector<std::string> upstream_indexes(const Site& site, const Recipes& recipes,
                                                        const Recipe& recipe, const std::string& against,
                                                        const std::string& accelerator);

// The recipe for where a version comes from: of a release of a closure (`part`, or nullptr) the bytes that it
// names or the wheel of an upstream; of an uploaded source it says how to build, and not from where.
[[nodiscard]] Recipe for_origin(Recipe recipe, const ClosurePart* part, bool is_uploaded,
                                const std::string& version);

[[nodiscard]] BuildHome home_of(const Site& site, const Recipe& recipe);

// Says whether an entry of Recipe::needs is a program that the build looks for on PATH, such as "gdal-config":
// it has no capital letter, as a variable has.
[[nodiscard]] bool is_needed_program(std::string_view name);

// "2.4.0+cu123.gh200" → "2.4.0".
[[nodiscard]] std::string without_label(const std::string& version);

}  // namespace wheelyard::builder
