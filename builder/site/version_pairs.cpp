// The strict reader of versions.toml, and the choice of the rows that apply.
#include "builder/site/version_pairs.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct UseRow {
    PairUse use;
    std::string_view text;
    std::string_view heading;
    std::string_view about;
};
constexpr std::array<UseRow, 5> use_rows = {{
    {PairUse::companion, "companion", "Companions",
     "Each version of a companion is built against this version of its package, and pinned to it; one of a\n"
     "stable ABI is built once, and requires the version that it is built against or a newer one.\n"
     "mpi4py has none: it is compiled with the site's MPI, which is no package."},
    {PairUse::build, "build", "Build requirements",
     "The scripts of builds and of wheelhouses pass these bounds to pip as constraints."},
    {PairUse::run, "run", "Requirements of the installed wheel",
     "Bounds for builds, and for the environment that users get."},
    {PairUse::tested, "tested", "What upstream builds",
     "Of what the site provides: Pythons, modules, repositories beside the build, `[versions]` of "
     "site.toml.\n"
     "The source refuses nothing else, so a cell outside these is unknown, and `build_unknown = true` of\n"
     "site.toml builds it."},
    {PairUse::machine, "machine", "The machine",
     "What the source refuses, of the same. A cell outside these is impossible."},
}};

wheel::SpecifierSet read_specifier(io::TomlTable& table, std::string_view key, const std::string& text) {
    auto set = wheel::SpecifierSet::parse(text);
    if (set && (key == "versions" || !text.empty())) return *set;
    table.report(key, "expected a specifier such as `>=2.3,<2.6`, found `" + text + "`");
    return {};
}

VersionPair read_pair(io::TomlTable& table) {
    VersionPair pair;
    const std::string package = table.string("package");
    if (!package.empty() && !wheel::is_valid_name(package))
        table.report("package", "not a project name (PEP 508): `" + package + "`");
    pair.package = wheel::normalize_name(package);
    pair.versions = table.string_or("versions", "");
    pair.version_set = read_specifier(table, "versions", pair.versions);
    pair.with = wheel::normalize_name(table.string("with"));
    pair.allowed = table.string("allowed");
    pair.allowed_set = read_specifier(table, "allowed", pair.allowed);
    std::vector<std::string> uses;
    for (const auto& row : use_rows)
        uses.emplace_back(row.text);
    const std::string use = table.choice_or("use", "build", uses);
    for (const auto& row : use_rows) {
        if (row.text == use) pair.use = row.use;
    }
    if (pair.use == PairUse::companion && !exact_version(pair.package + pair.versions))
        table.report("versions", "a companion has one row for each version, such as `==0.19.0`; found `" +
                                     pair.versions + "`");
    pair.stable_abi = table.boolean_or("stable_abi", false);
    if (pair.stable_abi && pair.use != PairUse::companion)
        table.report("stable_abi", "only a companion is built against another package");
    pair.why = table.string_or("why", "");
    pair.source = table.string("source");
    pair.place = table.place();
    return pair;
}

base::Result<std::vector<VersionPair>> read_document(io::TomlDocument& document) {
    io::TomlTable root = document.root();
    root.integer("config_version", 1, 1);
    const auto sources = root.string_map("sources");
    std::vector<VersionPair> pairs;
    for (io::TomlTable table : root.tables("pair")) {
        VersionPair pair = read_pair(table);
        const auto source = std::find_if(sources.begin(), sources.end(),
                                         [&](const auto& one) { return one.first == pair.source; });
        if (source == sources.end()) {
            table.report("source", "no such key in [sources]: `" + pair.source + "`");
        } else {
            pair.source = source->second;
        }
        pairs.push_back(std::move(pair));
    }
    WHEELYARD_TRY(document.finish());
    return pairs;
}

bool is_any(const std::vector<PairUse>& uses, PairUse use) {
    return std::find(uses.begin(), uses.end(), use) != uses.end();
}

// A URL as a link, anything else as it is.
std::string link_to(const std::string& source) {
    return source.starts_with("https://") ? "<" + source + ">" : source;
}

}  // namespace

std::string_view pair_use_text(PairUse use) {
    const auto* row =
        std::find_if(use_rows.begin(), use_rows.end(), [use](const UseRow& one) { return one.use == use; });
    return row == use_rows.end() ? std::string_view() : row->text;
}

std::string VersionPair::text() const {
    return with + allowed + " (" + package + versions + ": " + (why.empty() ? "" : why + "; ") + source +
           "; " + place + ")";
}

base::Result<std::vector<VersionPair>> parse_version_pairs(std::string_view text, const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
    return read_document(document);
}

base::Result<std::vector<VersionPair>> read_version_pairs(const fs::path& file) {
    WHEELYARD_ASSIGN(auto document, io::TomlDocument::read(file));
    return read_document(document);
}

std::optional<PackageVersion> exact_version(std::string_view requirement) {
    const auto at = requirement.find("==");
    if (at == std::string_view::npos) return std::nullopt;
    const auto version = wheel::Version::parse(base::trim(requirement.substr(at + 2)));
    if (!version) return std::nullopt;
    return PackageVersion{wheel::normalize_name(std::string(base::trim(requirement.substr(0, at)))),
                          *version};
}

std::vector<VersionPair> pairs_for(const std::vector<VersionPair>& pairs,
                                   const std::vector<PackageVersion>& packages,
                                   const std::vector<PairUse>& uses) {
    std::vector<VersionPair> found;
    for (const auto& pair : pairs) {
        const bool applies =
            is_any(uses, pair.use) && std::any_of(packages.begin(), packages.end(), [&](const auto& one) {
                return one.first == pair.package &&
                       pair.version_set.contains(one.second.without_local(), wheel::Prereleases::allowed);
            });
        if (applies) found.push_back(pair);
    }
    return found;
}

std::vector<std::string> constraints_of(const std::vector<VersionPair>& pairs) {
    std::map<std::string, std::vector<std::string>> allowed;  // by package
    for (const auto& pair : pairs) {
        auto& of_package = allowed[pair.with];
        if (std::find(of_package.begin(), of_package.end(), pair.allowed) == of_package.end())
            of_package.push_back(pair.allowed);
    }
    std::vector<std::string> constraints;
    for (const auto& [package, all] : allowed)
        constraints.push_back(package + base::join(all, ","));
    return constraints;
}

std::string render_version_pairs_markdown(const std::vector<VersionPair>& pairs) {
    std::string text =
        "# Versions that go together\n\n"
        "*Reference for staff of a site: which versions the builder combines, and the source of each "
        "row.*\n\n"
        "Generated from [`site-configs/common/versions.toml`](../../site-configs/common/versions.toml), "
        "which a "
        "site's\n`version_pairs` names; `plan --explain` cites the rows of each cell. Do not edit this "
        "page:\n"
        "`WHEELYARD_UPDATE_GOLDEN=1 ctest -R site/version_pairs` writes it, and "
        "`wheelyard-builder pairs\n"
        "update` adds the rows that the metadata of an index's wheels supports.\n";
    for (const auto& row : use_rows) {
        text += "\n## " + std::string(row.heading) + "\n\n" + std::string(row.about) + "\n\n";
        text += "| package | with | why | source |\n|---|---|---|---|\n";
        for (const auto& pair : pairs) {
            if (pair.use != row.use) continue;
            const std::string versions = pair.versions.empty() ? ", any" : pair.versions;
            text += "| `" + pair.package + versions + "` | `" + pair.with + pair.allowed + "` | " +
                    (pair.stable_abi ? "stable ABI: " : "") + pair.why + " | " + link_to(pair.source) +
                    " |\n";
        }
    }
    return text;
}

}  // namespace wheelyard::builder
