// The strict reader of versions.toml, and the choice of the rows that apply.
#include "builder/site/version_pairs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "builder/site/site_parts.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

struct UseRow {
    PairUse value;
    std::string_view text;
    std::string_view heading;
    std::string_view about;
};
constexpr auto uses = base::words<PairUse, UseRow>({
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
});

bool is_version_range(const std::string& text) {
    return !text.empty() && wheel::SpecifierSet::parse(text).has_value();
}

struct VersionsFile {
    io::TomlPairs sources;
    std::vector<VersionPair> pairs;
};

void check_pair(io::TomlTable& table, VersionPair& pair, VersionsFile& file) {
    pair.version_set = wheel::SpecifierSet::parse(pair.versions).value_or(wheel::SpecifierSet());
    pair.allowed_set = wheel::SpecifierSet::parse(pair.allowed).value_or(wheel::SpecifierSet());
    if (pair.use == PairUse::companion && !exact_version(pair.package + pair.versions))
        table.report("versions", "a companion has one row for each version, such as `==0.19.0`; found `" +
                                     pair.versions + "`");
    if (pair.stable_abi && pair.use != PairUse::companion)
        table.report("stable_abi", "only a companion is built against another package");
    const auto source = std::find_if(file.sources.begin(), file.sources.end(),
                                     [&](const auto& one) { return one.first == pair.source; });
    if (source == file.sources.end())
        table.report("source", "no such key in [sources]: `" + pair.source + "`");
    else
        pair.source = source->second;
    pair.place = table.place();
}

const io::TomlRows<VersionsFile>& file_of_versions_rows() {
    using V = VersionPair;
    using io::key;
    static const io::TomlRows<VersionsFile> rows = [] {
        const io::TextCheck specifier = io::must(is_version_range, "a specifier such as `>=2.3,<2.6`");
        return io::TomlRows<VersionsFile>{
            io::config_version<VersionsFile>(),
            key("sources", &VersionsFile::sources),
            io::table("pair", &VersionsFile::pairs,
                      {
                          key("package", &V::package, project_facts(true)),
                          key("versions", &V::versions, {.check = specifier}),
                          key("with", &V::with, {.is_required = true, .normal = wheel::normalize_name}),
                          key("allowed", &V::allowed, {.is_required = true, .check = specifier}),
                          io::word<uses>("use", &V::use),
                          key("stable_abi", &V::stable_abi),
                          key("why", &V::why),
                          key("source", &V::source, {.is_required = true}),
                      },
                      {}, check_pair),
        };
    }();
    return rows;
}

base::Result<std::vector<VersionPair>> read_document(io::TomlDocument& document) {
    io::TomlTable root = document.root();
    VersionsFile file;
    file_of_versions_rows().read(root, file);
    WHEELYARD_TRY(document.finish());
    return std::move(file.pairs);
}

bool is_any(const std::vector<PairUse>& uses, PairUse use) {
    return std::find(uses.begin(), uses.end(), use) != uses.end();
}

// A URL as a link, anything else as it is.
std::string link_to(const std::string& source) {
    return source.starts_with("https://") ? "<" + source + ">" : source;
}

}  // namespace

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
        "`WHEELYARD_UPDATE_GOLDEN=1 ctest -R site/version_pairs` writes it, and\n"
        "[`scripts/check-pairs`](../../scripts/check-pairs) lists what the metadata of an index's wheels "
        "demands beside it.\n";
    for (const UseRow& row : uses.rows) {
        text += "\n## " + std::string(row.heading) + "\n\n" + std::string(row.about) + "\n\n";
        text += "| package | with | why | source |\n|---|---|---|---|\n";
        for (const auto& pair : pairs) {
            if (pair.use != row.value) continue;
            const std::string versions = pair.versions.empty() ? ", any" : pair.versions;
            text += "| `" + pair.package + versions + "` | `" + pair.with + pair.allowed + "` | " +
                    (pair.stable_abi ? "stable ABI: " : "") + pair.why + " | " + link_to(pair.source) +
                    " |\n";
        }
    }
    return text;
}

}  // namespace wheelyard::builder
