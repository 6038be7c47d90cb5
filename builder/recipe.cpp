// The strict reader of recipes, and the default recipe.
#include "builder/recipe.hpp"

#include <algorithm>

#include "builder/limits.hpp"
#include "lib/base/digest.hpp"
#include "lib/base/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text.hpp"
#include "lib/base/url.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct KindRow {
    SourceKind kind;
    std::string_view text;
};
constexpr KindRow kinds[] = {
    {SourceKind::sdist, "sdist"}, {SourceKind::tarball, "tarball"}, {SourceKind::path, "path"}};

bool is_module_name(std::string_view name) {
    for (const auto part : base::split(name, '.')) {
        if (!is_environment_name(part)) return false;  // the same ASCII identifiers
    }
    return true;
}

void read_hashes(io::TomlTable table, Recipe& recipe) {
    for (auto& [version, digest] : table.string_map("sha256")) {
        const auto parsed = wheel::Version::parse(version);
        if (!parsed) table.report("sha256", "expected versions as keys, found `" + version + "`");
        if (!base::is_sha256_hex(digest)) {
            table.report("sha256", "expected 64 lower-case hexadecimal digits for `" + version +
                                       "`, found `" + digest + "`");
        }
        if (parsed) recipe.sha256[parsed->text()] = digest;
    }
}

void read_source(io::TomlTable root, Recipe& recipe) {
    io::TomlTable table = root.table_or_empty("source");
    const std::string kind = table.choice_or("kind", "sdist", {"sdist", "tarball", "path"});
    for (const auto& row : kinds) {
        if (row.text == kind) recipe.source = row.kind;
    }
    if (recipe.source == SourceKind::path) {
        recipe.path = table.path("path");
        return;
    }
    read_hashes(table, recipe);
    if (recipe.source != SourceKind::tarball) return;
    recipe.url = table.string("url");
    const auto url = base::parse_url(base::replace_all(recipe.url, "{version}", "1"));
    if (!recipe.url.empty() && !url) table.report("url", "expected a URL, found `" + recipe.url + "`");
    if (recipe.sha256.empty())
        table.report("sha256", "a tarball needs its digest: sha256 = {\"1.2\" = \"…\"}");
}

void read_build(io::TomlTable root, Recipe& recipe) {
    io::TomlTable table = root.table_or_empty("build");
    recipe.build_requires = table.strings_or("requires", {});
    for (const auto& text : recipe.build_requires) {
        if (!wheel::Requirement::parse(text))
            table.report("requires", "not a requirement (PEP 508): `" + text + "`");
    }
    recipe.build_environment = table.string_map("environment");
    for (const auto& [name, value] : recipe.build_environment) {
        if (!is_environment_name(name)) {
            table.report("environment", "not the name of an environment variable: `" + name + "`");
        }
    }
    recipe.governor = table.boolean_or("governor", true);
    recipe.front_end = table.choice_or("front_end", "pip-wheel", {"pip-wheel"});
}

void read_resources(io::TomlTable root, Recipe& recipe) {
    io::TomlTable table = root.table_or_empty("resources");
    recipe.cores = static_cast<int>(table.integer_or("cores", 0, 0, 4096));
    recipe.memory_mib = table.integer_or("memory_mib", 0, 0, most_memory_mib);
    recipe.minutes = table.integer_or("minutes", 0, 0, longest_most_minutes);
}

std::string guessed_import(const std::string& package) {
    return base::replace_all(package, "-", "_");
}

void read_test(io::TomlTable root, Recipe& recipe) {
    io::TomlTable table = root.table_or_empty("test");
    recipe.imports = table.strings_or("import", {guessed_import(recipe.package)});
    for (const auto& name : recipe.imports) {
        if (!is_module_name(name)) table.report("import", "not the name of a Python module: `" + name + "`");
    }
    recipe.test_command = table.string_or("command", "");
}

}  // namespace

std::string_view source_kind_text(SourceKind kind) {
    for (const auto& row : kinds) {
        if (row.kind == kind) return row.text;
    }
    return "?";
}

std::string Recipe::pinned_sha256(const std::string& version) const {
    const auto found = sha256.find(version);
    return found == sha256.end() ? "" : found->second;
}

base::Result<Recipe> parse_recipe(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    io::TomlTable root = document.root();
    root.integer("config_version", 1, 1);
    Recipe recipe;
    recipe.file = file;
    const std::string package = root.string("package");
    if (!package.empty() && !wheel::is_valid_name(package)) {
        root.report("package", "not a project name (PEP 508): `" + package + "`");
    }
    recipe.package = wheel::normalize_name(package);
    read_source(root, recipe);
    read_build(root, recipe);
    read_resources(root, recipe);
    read_test(root, recipe);
    WHEELYARD_TRY(document.finish());
    return recipe;
}

Recipe default_recipe(const std::string& package) {
    Recipe recipe;
    recipe.package = wheel::normalize_name(package);
    recipe.imports = {guessed_import(recipe.package)};
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
            return base::fail("config.recipes",
                              "The folder of recipes cannot be read (" + error.message() + ")",
                              folder.string(), "mend `recipes` in site.toml; it is relative to that file");
        }
        std::sort(files.begin(), files.end());
        for (const auto& file : files) {
            WHEELYARD_ASSIGN(const auto text, base::read_file(file, base::mib));
            WHEELYARD_ASSIGN(auto recipe, parse_recipe(text, file));
            recipes.add(std::move(recipe));
        }
    }
    return recipes;
}

void Recipes::add(Recipe recipe) {
    std::string package = recipe.package;
    by_package_.insert_or_assign(std::move(package), std::move(recipe));
}

Recipe Recipes::of(const std::string& package) const {
    const auto found = by_package_.find(package);
    return found == by_package_.end() ? default_recipe(package) : found->second;
}

}  // namespace wheelyard::builder
