// Merges the layers of a recipe and collects the recipes of a site's folders.
#include "builder/site/recipe.hpp"

#include <algorithm>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace fs = std::filesystem;

BuildHome home_of(const Site& site, const Recipe& recipe) {
    return recipe.home.value_or(site.build_home);
}

bool is_needed_program(std::string_view name) {
    return base::ascii_lower(name) == name;
}

std::string without_label(const std::string& version) {
    return version.substr(0, version.find('+'));
}

std::string Recipe::pinned_sha256(const std::string& version) const {
    const auto found = sha256.find(version);
    return found == sha256.end() ? "" : found->second;
}

Recipe RecipeFile::general() const {
    Recipe recipe;
    recipe.package = package;
    recipe.file = file;
    for (const auto& layer : layers) {
        if (!layer.versions.empty() || !layer.accelerators.empty()) continue;
        for (const auto& change : layer.changes)
            change(recipe);
    }
    return recipe;
}

Recipe RecipeFile::for_build(const wheel::Version& version, const std::string& accelerator) const {
    Recipe recipe;
    recipe.package = package;
    recipe.file = file;
    for (const auto& layer : layers) {
        const bool fits_accelerator =
            layer.accelerators.empty() || std::find(layer.accelerators.begin(), layer.accelerators.end(),
                                                    accelerator) != layer.accelerators.end();
        if (!fits_accelerator || !layer.versions.contains(version, wheel::Prereleases::allowed)) continue;
        for (const auto& change : layer.changes)
            change(recipe);
    }
    return recipe;
}

base::Result<Recipes> Recipes::read(const std::vector<fs::path>& folders) {
    Recipes recipes;
    for (const auto& folder : folders) {
        std::error_code error;
        std::vector<fs::path> files;
        for (const auto& entry : fs::directory_iterator(folder, error)) {
            if (entry.path().extension() == ".toml") files.push_back(fs::absolute(entry.path()));
        }
        if (error) {
            return base::fail(
                "config.recipes", "The folder of recipes cannot be read (" + error.message() + ")",
                folder.string(), "correct `recipes` in site.toml; its paths are relative to that file");
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) {
            WHEELYARD_ASSIGN(const auto text, base::read_file(file, base::mib));
            WHEELYARD_ASSIGN(auto recipe, parse_recipe_file(text, file));
            WHEELYARD_TRY(recipes.take(std::move(recipe)));
        }
    }
    return recipes;
}

base::Status Recipes::take(RecipeFile file) {
    const auto there = by_package_.find(file.package);
    if (!file.extends) {
        by_package_.insert_or_assign(file.package, std::move(file));
        return {};
    }
    if (there == by_package_.end()) {
        return base::fail(
            "config.recipes",
            "The recipe has `extends = true`, but no earlier folder has a recipe for this package",
            file.file.string(),
            "put the folder of the common recipes first in `recipes` of site.toml, or remove `extends`");
    }
    there->second.file = file.file;
    for (auto& layer : file.layers)
        there->second.layers.push_back(std::move(layer));
    return {};
}

void Recipes::add(const Recipe& recipe) {
    RecipeFile file;
    file.package = recipe.package;
    file.file = recipe.file;
    file.layers.push_back({{}, {}, {[recipe](Recipe& into) { into = recipe; }}});
    by_package_.insert_or_assign(file.package, file);
}

void Recipes::add_companions(const std::vector<VersionPair>& pairs) {
    for (const auto& pair : pairs) {
        const auto there = by_package_.find(pair.package);
        if (pair.use != PairUse::companion || there == by_package_.end()) continue;
        const auto own = wheel::Version::parse(pair.versions.substr(2));  // "==0.19.0"
        if (!own) continue;
        RecipeLayer layer;
        layer.changes.emplace_back([own = own->text(), pair](Recipe& recipe) {
            if (recipe.against != pair.with || !recipe.against_versions.emplace(own, pair.allowed).second)
                return;
            if (pair.stable_abi) recipe.stable_abi.insert(own);
        });
        there->second.layers.push_back(std::move(layer));
    }
}

void Recipes::take_upstream(const std::string& package, const std::string& from) {
    RecipeFile& file = by_package_[package];
    file.package = package;
    RecipeLayer layer;
    layer.changes.emplace_back([index = from == "upstream" ? "" : from](Recipe& recipe) {
        if (recipe.source != SourceKind::upstream) {  // what prepares a build
            recipe.before.clear();
            recipe.beside.clear();
            recipe.patches.clear();
            recipe.index.clear();
        }
        recipe.source = SourceKind::upstream;
        recipe.mirrored = true;
        if (!index.empty()) recipe.index = index;
    });
    file.layers.push_back(std::move(layer));
}

base::Result<Recipes> read_recipes(const Site& site) {
    WHEELYARD_ASSIGN(auto recipes, Recipes::read(site.recipes));
    recipes.add_companions(site.version_pairs);
    for (const auto& want : site.wants)
        if (!want.from.empty()) recipes.take_upstream(want.package, want.from);
    return recipes;
}

std::vector<std::string> Recipes::packages() const {
    std::vector<std::string> names;
    for (const auto& [package, file] : by_package_)
        names.push_back(package);
    return names;
}

Recipe Recipes::of(const std::string& package) const {
    const auto found = by_package_.find(package);
    return found == by_package_.end() ? default_recipe(package) : found->second.general();
}

Recipe Recipes::of(const std::string& package, const std::string& version,
                   const std::string& accelerator) const {
    const auto found = by_package_.find(package);
    if (found == by_package_.end()) return default_recipe(package);
    const auto parsed = wheel::Version::parse(without_label(version));
    return parsed ? found->second.for_build(*parsed, accelerator) : found->second.general();
}

std::vector<std::string> upstream_indexes(const Site& site, const Recipes& recipes, const Recipe& recipe,
                                          const std::string& against, const std::string& accelerator) {
    std::vector<std::string> indexes;
    const auto add = [&indexes](const Recipe& one) {
        const bool is_new = std::find(indexes.begin(), indexes.end(), one.index) == indexes.end();
        if (one.source == SourceKind::upstream && !one.index.empty() && is_new) indexes.push_back(one.index);
    };
    add(recipe);
    if (const auto other = exact_version(against))
        add(recipe_for(site, recipes, other->first, other->second.text(), accelerator));
    return indexes;
}

namespace {

Recipe without_source(Recipe recipe) {
    recipe.source = SourceKind::sdist;
    recipe.url.clear();
    recipe.tag.clear();
    recipe.upstream_label.clear();
    recipe.mirrored = false;
    recipe.upstream_why.clear();
    recipe.index.clear();
    recipe.path.clear();
    return recipe;
}

}  // namespace

Recipe for_origin(Recipe recipe, const ClosurePart* part, bool is_uploaded, const std::string& version) {
    if (part == nullptr) return is_uploaded ? without_source(std::move(recipe)) : recipe;
    if (part->is_taken) {
        recipe = without_source(std::move(recipe));
        recipe.source = SourceKind::upstream;
        recipe.labelled = false;
        recipe.accelerators.clear();
    } else if (!part->sha256.empty()) {
        recipe.sha256.emplace(without_label(version), part->sha256);
    }
    return recipe;
}

Recipe recipe_for(const Site& site, const Recipes& recipes, const std::string& package,
                  const std::string& version, const std::string& accelerator) {
    const Accelerator* there = site.accelerator(accelerator);
    return recipes.of(package, version, there == nullptr ? "cpu" : there->kind);
}

}  // namespace wheelyard::builder
