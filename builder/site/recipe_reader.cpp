// The rows of recipes, the rules that concern several of their keys, and their reader.
#include <algorithm>
#include <memory>

#include "builder/attempt/limits.hpp"
#include "builder/site/limits.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site_parts.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

using io::key;
using io::must;
using io::table;
using io::word;

constexpr std::string_view digest_form = "64 lower-case hexadecimal digits";

// "test/test_indexing.py": in a folder of it, and not outside.
bool is_file_of_source(std::string_view path) {
    return path.find('/') != std::string_view::npos && !path.starts_with('/') && !path.ends_with('/') &&
           path.find("..") == std::string_view::npos;
}

bool is_module_name(std::string_view name) {
    for (const auto part : base::split(name, '.')) {
        if (!is_environment_name(part)) return false;  // the same rule: an ASCII identifier
    }
    return true;
}

bool is_variable_or_program(std::string_view name) {
    std::string letters(name);
    if (is_needed_program(name)) std::replace(letters.begin(), letters.end(), '-', '_');
    return is_environment_name(letters) && !name.starts_with('-');
}

bool is_pep508(const std::string& text) {
    return wheel::Requirement::parse(text).has_value();
}

bool is_tag(const std::string& text) {
    return !text.starts_with('-');
}

std::string normal_version(const std::string& text) {
    const auto version = wheel::Version::parse(text);
    return version ? version->text() : text;
}

std::string url_fault(const std::string& text) {
    if (!parse_template(text)) return "expected a URL, found `" + text + "`";
    return has_password(text) ? password_fault : "";
}

bool is_specifier(const std::string& text) {
    return wheel::SpecifierSet::parse(text).has_value();
}

bool is_upstream_label(const std::string& text) {
    return is_version("1+" + text);
}

// The condition of keys that only these kinds of sources have.
auto is_from(SourceKind one, SourceKind other) {
    return [=](const Recipe& recipe) { return recipe.source == one || recipe.source == other; };
}
auto is_from(SourceKind one) {
    return is_from(one, one);
}

io::TomlFacts versioned_facts(std::string type, io::TextCheck check) {
    return {.type = std::move(type),
            .check = std::move(check),
            .name_check = must(is_version, "versions as keys"),
            .normal_name = normal_version};
}

bool is_plain_name(std::string_view text) {
    return !text.empty() && !text.starts_with('.') && !text.starts_with('-') &&
           std::all_of(text.begin(), text.end(), [](char c) {
               return base::is_ascii_alnum(c) || std::string_view("._-").find(c) != std::string_view::npos;
           });
}

void check_patch(io::TomlTable& table, Patches& one, Recipe&) {
    if (one.pattern.empty() == one.series.empty())
        table.report("files", "expected one of `files` and `series`");
}

void check_beside(io::TomlTable& table, Beside& one, Recipe&) {
    if (one.tag.empty() == one.sha256.empty())
        table.report("tag", "expected either the `tag` of a repository or the `sha256` of an archive");
}

// Of [source] with `of_one_version`: the layer is one of a single version.
void check_source(io::TomlTable table, bool of_one_version, Recipe& recipe) {
    const bool is_upstream = recipe.source == SourceKind::upstream;
    if (!is_upstream && !recipe.upstream_label.empty())
        table.report("label", "only wheels of an upstream have a label of their own");
    if (!is_upstream && !recipe.upstream_why.empty())
        table.report("reason", "only a wheel of an upstream has a reason not to be built");
    if (recipe.source == SourceKind::tarball && !table.has("sha256"))
        table.report("sha256", "a tarball needs its SHA-256: sha256 = {\"1.2\" = \"…\"}");
    if (recipe.source == SourceKind::git && recipe.tag.find("{version}") == std::string::npos &&
        !of_one_version)
        table.report("tag", "expected a tag with {version} in it, found `" + recipe.tag + "`");
}

io::TomlRows<HardwareTest> own_job_rows() {
    using H = HardwareTest;
    return {
        key("command", &H::command, {.is_required = true}),
        key("nodes", &H::nodes, {.range = {1, max_test_nodes}}),
        key("ranks_per_node", &H::ranks_per_node, {.range = {1, 4096}}),
        key("gpus_per_node", &H::gpus_per_node, {.range = {0, 64}}),
        key("minutes", &H::minutes, {.range = {1, max_walltime_minutes_limit}}),
        key("memory_mib", &H::memory_mib,
            {.fallback = "`scheduler.memory_mib` of the site", .range = {0, max_memory_mib}}),
    };
}

// [source] is replaced as a whole by a later layer, but for its digests, which add up.
io::TomlRows<Recipe> source_rows() {
    using R = Recipe;
    const auto add_digests = [](const R& from, R& into) {
        for (const auto& [version, digest] : from.sha256)
            into.sha256.insert_or_assign(version, digest);
    };
    return io::TomlRows<R>{
        word<source_kinds>("source.kind", &R::source),
        key("source.url", &R::url,
            {.type = "URL",
             .fallback = "required for `tarball` and `git`",
             .is_required = true,
             .check = url_fault})
            .when(is_from(SourceKind::tarball, SourceKind::git)),
        key("source.tag", &R::tag, {.check = must(is_tag, "a tag with {version} in it")})
            .when(is_from(SourceKind::git)),
        key("source.sha256", &R::sha256,
            versioned_facts("table: version → digest", must(base::is_sha256_hex, digest_form)))
            .copied_by(add_digests)
            .when(is_from(SourceKind::sdist, SourceKind::tarball)),
        key("source.path", &R::path, {.fallback = "required for `path`", .is_required = true})
            .when(is_from(SourceKind::path)),
        key("source.index", &R::index,
            {.type = "URL", .fallback = "where pip is configured to look", .check = url_fault})
            .when(is_from(SourceKind::upstream)),
        key("source.label", &R::upstream_label,
            {.check = must(is_upstream_label, "a local version label such as `rocm5.7`")}),
        key("source.reason", &R::upstream_why),
    }
        .as_a_whole();
}

io::TomlRows<Recipe> against_rows() {
    return io::TomlRows<Recipe>{
        key("against.package", &Recipe::against, project_facts(true)),
        key("against.versions", &Recipe::against_versions,
            versioned_facts("table: version → specifier",
                            must(is_specifier, "a specifier such as `==2.4.0`"))),
    }
        .as_a_whole();
}

io::TomlRows<Recipe> build_rows() {
    using R = Recipe;
    using O = OwnTests;
    const auto requirement = must(is_pep508, "a requirement (PEP 508)");
    return {
        key("build.needs", &R::needs,
            {.type = "table: name → list of variables and programs",
             .check =
                 must(is_variable_or_program, "the name of a variable, or of a program in small letters"),
             .normal_name = wheel::normalize_name}),
        key("build.requires", &R::build_requires, {.type = "requirements", .check = requirement}),
        key("build.requirements_files", &R::requirements_files),
        key("build.environment", &R::build_environment, environment_facts())
            .copied_by([](const R& from, R& into) {
                merge_environment(into.build_environment, from.build_environment);
            }),
        key("build.before", &R::before),
        key("build.configure", &R::configure),
        word<build_homes>("build.home", &R::home, {.fallback = "the site's"}),
        key("build.governor", &R::governor),
        key("build.front_end", &R::front_end, {.choices = {"pip-wheel", "setup-py", "build"}}),
        word<extension_wishes>("build.extension", &R::extension),
        key("resources.cores", &R::cores, {.fallback = "the site's", .range = {0, 4096}}),
        key("resources.memory_mib", &R::memory_mib, {.fallback = "the site's", .range = {0, max_memory_mib}}),
        key("resources.minutes", &R::minutes,
            {.fallback = "the site's", .range = {0, max_walltime_minutes_limit}}),
        key("test.import", &R::imports,
            {.type = "module names",
             .fallback = "those at the wheel's top level",
             .check = must(is_module_name, "the name of a Python module")}),
        key("test.command", &R::test_command),
        key("test.promises", &R::promises, {.type = "list of words"}),
        key("test.requires", &R::test_requires, {.type = "requirements", .check = requirement}),
        table("test.own", &R::own_tests,
              {
                  key("files", &O::files, {.check = must(is_file_of_source, "a file of the source")}),
                  key("minutes", &O::minutes, {.range = {1, max_walltime_minutes_limit}}),
                  key("requires", &O::requires_too, {.type = "requirements", .check = requirement}),
              }),
        table("test.gpu", &R::gpu_test, own_job_rows()),
        table("test.multi_node", &R::multi_node_test, own_job_rows()),
    };
}

// Patches add up: those of the common recipe are applied before those of the site.
io::TomlRows<Recipe> beside_rows() {
    using P = Patches;
    using B = Beside;
    const auto add_patches = [](const Recipe& from, Recipe& into) {
        into.patches.insert(into.patches.end(), from.patches.begin(), from.patches.end());
    };
    return {
        table("patch", &Recipe::patches,
              {
                  key("files", &P::pattern, {.fallback = "this or `series`"}),
                  key("series", &P::series, {.fallback = "this or `files`"}),
                  versions_key(&P::versions),
              },
              {}, check_patch)
            .copied_by(add_patches),
        table("beside", &Recipe::beside,
              {
                  key("name", &B::name,
                      {.is_required = true, .check = must(is_plain_name, "the name of a folder")}),
                  key("url", &B::url, {.type = "URL", .is_required = true, .check = url_fault}),
                  key("tag", &B::tag,
                      {.fallback = "this or `sha256`", .check = must(is_tag, "a tag or branch")}),
                  key("sha256", &B::sha256,
                      {.type = "digest",
                       .fallback = "this or `tag`",
                       .check = must(base::is_sha256_hex, digest_form)}),
              },
              {}, check_beside),
    };
}

// The keys that a layer may change: the top level of a file, and an [[override]].
const io::TomlRows<Recipe>& layer_rows() {
    static const io::TomlRows<Recipe> all = [] {
        io::TomlRows<Recipe> rows = source_rows();
        rows.add(against_rows());
        rows.add(build_rows());
        rows.add(beside_rows());
        return rows;
    }();
    return all;
}

const io::TomlRows<Recipe>& top_rows() {
    static const io::TomlRows<Recipe> rows{
        key("labelled", &Recipe::labelled),
        key("accelerators", &Recipe::accelerators, {.choices = accelerator::accelerator_names()}),
    };
    return rows;
}

const io::TomlRows<RecipeFile>& file_rows() {
    using F = RecipeFile;
    static const io::TomlRows<F> rows{
        io::config_version<F>(),
        key("package", &F::package, project_facts(true)),
        key("extends", &F::extends),
    };
    return rows;
}

const io::TomlRows<RecipeLayer>& override_rows() {
    using L = RecipeLayer;
    static const io::TomlRows<L> rows{
        versions_key(&L::versions),
        key("accelerators", &L::accelerators,
            {.fallback = "all", .choices = accelerator::accelerator_names()}),
    };
    return rows;
}

// Adds the rows whose keys are given to the layer, as one change.
void read_rows(io::TomlTable& table, const io::TomlRows<Recipe>& rows, RecipeLayer& layer,
               const std::shared_ptr<Recipe>& values) {
    layer.changes.emplace_back([values, given = rows.read(table, *values)](Recipe& recipe) {
        for (const auto* row : given)
            row->copy(*values, recipe);
        for (const auto& [name, place] : values->places)
            recipe.places[name] = place;
    });
}

void read_layer(io::TomlTable& table, RecipeLayer& layer) {
    const auto values = std::make_shared<Recipe>();
    read_rows(table, layer_rows(), layer, values);
    const auto& versions = layer.versions.specifiers();
    if (table.has("source"))
        check_source(table.table("source"), versions.size() == 1 && versions.front().is_exact(), *values);
    note_places(table.table_or_empty("resources"), "resources.", values->places);
    io::TomlTable tests = table.table_or_empty("test");
    for (const std::string kind : {"gpu", "multi_node"})
        note_places(tests.table_or_empty(kind), "test." + kind + ".", values->places);
}

}  // namespace

std::string document_recipe_keys() {
    return file_rows().document() + top_rows().document() + layer_rows().document() +
           "| `[[override]]` | tables | none |\n" + override_rows().document("override.");
}

base::Result<RecipeFile> parse_recipe_file(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    io::TomlTable root = document.root();
    RecipeFile read;
    read.file = file;
    file_rows().read(root, read);
    RecipeLayer& first = read.layers.emplace_back();
    read_rows(root, top_rows(), first, std::make_shared<Recipe>());
    read_layer(root, first);
    for (io::TomlTable table : root.tables("override")) {
        RecipeLayer& layer = read.layers.emplace_back();
        override_rows().read(table, layer);
        read_layer(table, layer);
    }
    WHEELYARD_TRY(document.finish());
    return read;
}

Recipe default_recipe(const std::string& package) {
    Recipe recipe;
    recipe.package = wheel::normalize_name(package);
    return recipe;
}

}  // namespace wheelyard::builder
