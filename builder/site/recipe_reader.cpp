// The strict reader of recipes. Each key in a file becomes one change of its layer.
#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/recipe.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
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
constexpr KindRow kinds[] = {{SourceKind::sdist, "sdist"},
                             {SourceKind::tarball, "tarball"},
                             {SourceKind::path, "path"},
                             {SourceKind::git, "git"},
                             {SourceKind::upstream, "upstream"}};

bool is_module_name(std::string_view name) {
    for (const auto part : base::split(name, '.')) {
        if (!is_environment_name(part)) return false;  // the same rule: an ASCII identifier
    }
    return true;
}

template <class Value>
void set(RecipeLayer& layer, Value Recipe::*field, Value value) {
    layer.changes.emplace_back([field, value = std::move(value)](Recipe& recipe) { recipe.*field = value; });
}

void set_strings(io::TomlTable& table, std::string_view key, RecipeLayer& layer,
                 std::vector<std::string> Recipe::*field) {
    const auto value = table.strings_or(key, {});  // read even when absent, so that a typo gets a suggestion
    if (table.has(key)) set(layer, field, value);
}

void set_string(io::TomlTable& table, std::string_view key, RecipeLayer& layer, std::string Recipe::*field) {
    const auto value = table.string_or(key, "");
    if (table.has(key)) set(layer, field, value);
}

void read_hashes(io::TomlTable table, RecipeLayer& layer) {
    std::map<std::string, std::string> digests;
    for (auto& [version, digest] : table.string_map("sha256")) {
        const auto parsed = wheel::Version::parse(version);
        if (!parsed) table.report("sha256", "expected versions as keys, found `" + version + "`");
        if (!base::is_sha256_hex(digest)) {
            table.report("sha256", "expected 64 lower-case hexadecimal digits for `" + version +
                                       "`, found `" + digest + "`");
        }
        if (parsed) digests[parsed->text()] = digest;
    }
    layer.changes.emplace_back([digests](Recipe& recipe) {
        for (const auto& [version, digest] : digests)
            recipe.sha256.insert_or_assign(version, digest);
    });
}

void read_url(io::TomlTable& table, std::string_view key, RecipeLayer& layer, std::string Recipe::*field) {
    const std::string text = table.string(key);
    const auto url = base::parse_url(base::replace_all(text, "{version}", "1"));
    if (!text.empty() && !url) table.report(key, "expected a URL, found `" + text + "`");
    if (url && !url->userinfo.empty())
        table.report(key, "the URL contains a password, which job logs would show; remove it");
    set(layer, field, text);
}

void read_source(io::TomlTable root, RecipeLayer& layer) {
    io::TomlTable table = root.table_or_empty("source");
    if (!root.has("source")) return;
    const std::string name =
        table.choice_or("kind", "sdist", {"sdist", "tarball", "path", "git", "upstream"});
    SourceKind kind = SourceKind::sdist;
    for (const auto& row : kinds) {
        if (row.text == name) kind = row.kind;
    }
    set(layer, &Recipe::source, kind);
    const std::string label = table.string_or("label", "");
    if (!label.empty() && kind != SourceKind::upstream)
        table.report("label", "only wheels of an upstream have a label of their own");
    if (!label.empty() && !wheel::Version::parse("1+" + label))
        table.report("label", "expected a local version label such as `rocm5.7`, found `" + label + "`");
    set(layer, &Recipe::upstream_label, label);
    const std::string why = table.string_or("reason", "");
    if (!why.empty() && kind != SourceKind::upstream)
        table.report("reason", "only a wheel of an upstream has a reason not to be built");
    set(layer, &Recipe::upstream_why, why);
    if (kind == SourceKind::path) return set(layer, &Recipe::path, table.path("path"));
    if (kind == SourceKind::upstream) {
        if (table.string_or("index", "").empty()) return set(layer, &Recipe::index, std::string());
        return read_url(table, "index", layer, &Recipe::index);
    }
    if (kind == SourceKind::git) {
        read_url(table, "url", layer, &Recipe::url);
        const std::string tag = table.string_or("tag", "v{version}");
        const auto& of = layer.versions.specifiers();
        const bool is_of_one_version = of.size() == 1 && of.front().is_exact();
        if ((tag.find("{version}") == std::string::npos && !is_of_one_version) || tag.starts_with("-"))
            table.report("tag", "expected a tag with {version} in it, found `" + tag + "`");
        return set(layer, &Recipe::tag, tag);
    }
    read_hashes(table, layer);
    if (kind != SourceKind::tarball) return;
    read_url(table, "url", layer, &Recipe::url);
    if (!table.has("sha256"))
        table.report("sha256", "a tarball needs its SHA-256: sha256 = {\"1.2\" = \"…\"}");
}

void check_requirements(io::TomlTable& table, std::string_view key) {
    for (const auto& text : table.strings_or(key, {})) {
        if (!wheel::Requirement::parse(text))
            table.report(key, "not a requirement (PEP 508): `" + text + "`");
    }
}

void read_patches(io::TomlTable root, const fs::path& folder, RecipeLayer& layer) {
    std::vector<Patches> patches;
    for (io::TomlTable table : root.tables("patch")) {
        Patches one;
        const std::string files = table.string_or("files", "");
        one.series = table.string_or("series", "");
        if (files.empty() == one.series.empty())
            table.report("files", "expected one of `files` and `series`");
        if (!files.empty()) one.pattern = (folder / files).lexically_normal();
        const std::string versions = table.string_or("versions", "");
        const auto set = wheel::SpecifierSet::parse(versions);
        if (!set)
            table.report("versions", "expected a specifier such as `>=2.3,<2.6`, found `" + versions + "`");
        if (set) one.versions = *set;
        patches.push_back(std::move(one));
    }
    if (patches.empty()) return;
    // Patches add up: those of the common recipe are applied before those of the site.
    layer.changes.emplace_back([patches](Recipe& recipe) {
        recipe.patches.insert(recipe.patches.end(), patches.begin(), patches.end());
    });
}

bool is_plain_name(std::string_view text) {
    return !text.empty() && !text.starts_with('.') && !text.starts_with('-') &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_alnum(c) || std::string_view("._-").find(c) != std::string_view::npos;
           });
}

void read_beside(io::TomlTable root, RecipeLayer& layer) {
    std::vector<Beside> all;
    for (io::TomlTable table : root.tables("beside")) {
        Beside one{table.string("name"), table.string("url"), table.string_or("tag", ""),
                   table.string_or("sha256", "")};
        if (one.tag.empty() == one.sha256.empty())
            table.report("tag", "expected either the `tag` of a repository or the `sha256` of an archive");
        if (!one.sha256.empty() && !base::is_sha256_hex(one.sha256)) {
            table.report("sha256", "expected 64 lower-case hexadecimal digits, found `" + one.sha256 + "`");
        }
        if (!is_plain_name(one.name))
            table.report("name", "expected the name of a folder, found `" + one.name + "`");
        if (one.tag.starts_with("-"))
            table.report("tag", "expected a tag or branch, found `" + one.tag + "`");
        const auto url = base::parse_url(one.url);
        if (!url || !url->userinfo.empty()) table.report("url", "expected a URL without a password");
        all.push_back(std::move(one));
    }
    if (root.has("beside")) set(layer, &Recipe::beside, all);  // `beside = []`: none of the earlier folders
}

void read_needs(io::TomlTable build, RecipeLayer& layer) {
    io::TomlTable table = build.table_or_empty("needs");
    if (!build.has("needs")) return;
    std::map<std::string, std::vector<std::string>> needs;
    for (const auto& name : table.keys()) {
        for (const auto& variable : needs[wheel::normalize_name(name)] = table.strings_or(name, {})) {
            if (!is_environment_name(variable))
                table.report(name, "not the name of an environment variable: `" + variable + "`");
        }
    }
    set(layer, &Recipe::needs, needs);
}

void read_build(io::TomlTable root, RecipeLayer& layer) {
    io::TomlTable table = root.table_or_empty("build");
    if (!root.has("build")) return;
    read_needs(table, layer);
    check_requirements(table, "requires");
    set_strings(table, "requires", layer, &Recipe::build_requires);
    set_strings(table, "requirements_files", layer, &Recipe::requirements_files);
    const auto environment = table.string_map("environment");
    for (const auto& [name, value] : environment) {
        if (!is_environment_name(name)) {
            table.report("environment", "not the name of an environment variable: `" + name + "`");
        }
    }
    layer.changes.emplace_back(
        [environment](Recipe& recipe) { merge_environment(recipe.build_environment, environment); });
    set_strings(table, "before", layer, &Recipe::before);
    set_strings(table, "configure", layer, &Recipe::configure);
    const bool is_user = table.choice_or("home", "own", {"own", "user"}) == "user";
    if (table.has("home"))
        set(layer, &Recipe::home, std::optional(is_user ? BuildHome::user : BuildHome::own));
    const bool governor = table.boolean_or("governor", true);
    if (table.has("governor")) set(layer, &Recipe::governor, governor);
    const std::string front_end =
        table.choice_or("front_end", "pip-wheel", {"pip-wheel", "setup-py", "build"});
    if (table.has("front_end")) set(layer, &Recipe::front_end, front_end);
    const bool is_required = table.choice_or("extension", "required", {"required", "optional"}) == "required";
    if (table.has("extension"))
        set(layer, &Recipe::extension, is_required ? ExtensionWish::required : ExtensionWish::optional);
}

// Where these keys were set: a refused job names the place of the key that decides.
void note_places(const io::TomlTable& table, const std::string& section, const std::vector<std::string>& keys,
                 RecipeLayer& layer) {
    for (const auto& key : keys) {
        if (!table.has(key)) continue;
        layer.changes.emplace_back([name = section + key, place = table.place(key)](Recipe& recipe) {
            recipe.places[name] = place;
        });
    }
}

void read_resources(io::TomlTable root, RecipeLayer& layer) {
    io::TomlTable table = root.table_or_empty("resources");
    if (!root.has("resources")) return;
    const auto cores = static_cast<int>(table.integer_or("cores", 0, 0, 4096));
    const auto memory_mib = table.integer_or("memory_mib", 0, 0, max_memory_mib);
    const auto minutes = table.integer_or("minutes", 0, 0, max_walltime_minutes_limit);
    if (table.has("cores")) set(layer, &Recipe::cores, cores);
    if (table.has("memory_mib")) set(layer, &Recipe::memory_mib, memory_mib);
    if (table.has("minutes")) set(layer, &Recipe::minutes, minutes);
    note_places(table, "resources.", {"cores", "memory_mib", "minutes"}, layer);
}

HardwareTest read_hardware_test(io::TomlTable table) {
    HardwareTest test;
    test.command = table.string("command");
    test.nodes = static_cast<int>(table.integer_or("nodes", 1, 1, max_test_nodes));
    test.ranks_per_node = static_cast<int>(table.integer_or("ranks_per_node", 1, 1, 4096));
    test.gpus_per_node = static_cast<int>(table.integer_or("gpus_per_node", 0, 0, 64));
    test.minutes = table.integer_or("minutes", test.minutes, 1, max_walltime_minutes_limit);
    test.memory_mib = table.integer_or("memory_mib", 0, 0, max_memory_mib);
    return test;
}

void read_test(io::TomlTable root, RecipeLayer& layer) {
    io::TomlTable table = root.table_or_empty("test");
    if (!root.has("test")) return;
    for (const auto& name : table.strings_or("import", {})) {
        if (!is_module_name(name)) table.report("import", "not the name of a Python module: `" + name + "`");
    }
    set_strings(table, "import", layer, &Recipe::imports);
    set_string(table, "command", layer, &Recipe::test_command);
    set_strings(table, "promises", layer, &Recipe::promises);
    check_requirements(table, "requires");
    set_strings(table, "requires", layer, &Recipe::test_requires);
    for (const auto& [kind, test] :
         {std::pair{"gpu", &Recipe::gpu_test}, std::pair{"multi_node", &Recipe::multi_node_test}}) {
        if (!table.has(kind)) continue;
        const io::TomlTable own = table.table(kind);
        set(layer, test, read_hardware_test(own));
        note_places(own, std::string("test.") + kind + ".",
                    {"nodes", "ranks_per_node", "gpus_per_node", "minutes", "memory_mib"}, layer);
    }
}

void read_against(io::TomlTable root, RecipeLayer& layer) {
    io::TomlTable table = root.table_or_empty("against");
    if (!root.has("against")) return;
    const std::string package = table.string("package");
    if (!package.empty() && !wheel::is_valid_name(package))
        table.report("package", "not a project name (PEP 508): `" + package + "`");
    set(layer, &Recipe::against, wheel::normalize_name(package));
    std::map<std::string, std::string> versions;
    for (const auto& [own, other] : table.string_map("versions")) {
        const auto parsed = wheel::Version::parse(own);
        if (!parsed) table.report("versions", "expected versions as keys, found `" + own + "`");
        if (!wheel::SpecifierSet::parse(other))
            table.report("versions",
                         "expected a specifier such as `==2.4.0` for `" + own + "`, found `" + other + "`");
        if (parsed) versions[parsed->text()] = other;
    }
    set(layer, &Recipe::against_versions, versions);
}

void check_kinds(io::TomlTable& table, const std::vector<std::string>& named) {
    for (const auto& kind : named) {
        if (kind != accelerator::cpu && accelerator::find_accelerator_kind(kind) == nullptr)
            table.report("accelerators", "expected `cpu`, " + accelerator::list_kinds("`{name}`", " or ") +
                                             ", found `" + kind + "`");
    }
}

void read_layer(io::TomlTable& table, const fs::path& file, RecipeLayer& layer) {
    read_source(table, layer);
    read_against(table, layer);
    read_build(table, layer);
    read_patches(table, file.parent_path(), layer);
    read_beside(table, layer);
    read_resources(table, layer);
    read_test(table, layer);
}

RecipeLayer read_override(io::TomlTable table, const fs::path& file) {
    RecipeLayer layer;
    const std::string versions = table.string_or("versions", "");
    const auto set = wheel::SpecifierSet::parse(versions);
    if (!set) table.report("versions", "expected a specifier such as `>=2.3,<2.6`, found `" + versions + "`");
    if (set) layer.versions = *set;
    layer.accelerators = table.strings_or("accelerators", {});
    check_kinds(table, layer.accelerators);
    read_layer(table, file, layer);
    return layer;
}

}  // namespace

std::string_view source_kind_text(SourceKind kind) {
    for (const auto& row : kinds) {
        if (row.kind == kind) return row.text;
    }
    return "?";
}

base::Result<RecipeFile> parse_recipe_file(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    io::TomlTable root = document.root();
    root.integer("config_version", 1, 1);
    RecipeFile read;
    read.file = file;
    const std::string package = root.string("package");
    if (!package.empty() && !wheel::is_valid_name(package)) {
        root.report("package", "not a project name (PEP 508): `" + package + "`");
    }
    read.package = wheel::normalize_name(package);
    read.extends = root.boolean_or("extends", false);
    RecipeLayer first;
    const bool labelled = root.boolean_or("labelled", false);
    if (root.has("labelled")) set(first, &Recipe::labelled, labelled);
    check_kinds(root, root.strings_or("accelerators", {}));
    set_strings(root, "accelerators", first, &Recipe::accelerators);
    read_layer(root, file, first);
    read.layers.push_back(std::move(first));
    for (const io::TomlTable& table : root.tables("override"))
        read.layers.push_back(read_override(table, file));
    WHEELYARD_TRY(document.finish());
    return read;
}

Recipe default_recipe(const std::string& package) {
    Recipe recipe;
    recipe.package = wheel::normalize_name(package);
    return recipe;
}

}  // namespace wheelyard::builder
