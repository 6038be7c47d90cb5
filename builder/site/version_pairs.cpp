// The strict reader of versions.toml, and the choice of the rows that apply.
#include "builder/site/version_pairs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "builder/site/site_parts.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
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
     "site.toml builds it. `gpu` of ROCm are the architectures for which its own libraries have code."},
    {PairUse::machine, "machine", "The machine",
     "What the source refuses, of the same. A cell outside these is impossible. `gpu` are the architectures\n"
     "that a toolkit or a package can be compiled for: `sm_80+` is that and newer ones, `!gfx950` all but "
     "that.\n"
     "`extension-gpu` are those that a package can compile its companions for, where they name none.\n"
     "Rows of GPUs are asked only where a variable of the recipe has the accelerator's by a placeholder,\n"
     "such as `{cuda_architectures}`. Where some fit, it is built for those, and an index whose policy asks\n"
     "for all of them refuses the wheel. A row is not asked where its `unless` names a variable of the "
     "build."},
    {PairUse::limit, "limit", "Known limits",
     "What a version does wrong until a later one, wherever it was built. A row bounds nothing and repairs\n"
     "nothing: `plan` counts them, `plan --explain` and `explain` name those of a cell. `any`: on every\n"
     "machine; `compiled`: where the site compiles it; else on that processor.\n\n"
     "Read from the patches that EasyBuild applies to PyTorch 2.0.1 to 2.9.1\n"
     "([easybuild-easyconfigs](https://github.com/easybuilders/easybuild-easyconfigs), 9ba1c109b9): of "
     "those\n"
     "for 2.6.0, most skip or loosen tests. These change what torch does; what only keeps a build from "
     "ending\n"
     "(XNNPACK's float16 in 2.6.0, GCC 14 with SVE in 2.9.1) is not here. A release between two that are\n"
     "patched counts as both; one that EasyBuild has no recipe for, such as 2.8, until the next that is not\n"
     "patched. An older one without a row was not looked at."},
});

bool is_version_range(const std::string& text) {
    return !text.empty() && wheel::SpecifierSet::parse(text).has_value();
}

// "sm_90a" → 9.0; nullopt: nothing orders the architectures of its kind.
std::optional<base::Dotted> order_of(std::string_view architecture) {
    const auto* kind = accelerator::kind_of_architecture(architecture);
    if (kind == nullptr || kind->architecture_flag == nullptr) return std::nullopt;
    std::string number = kind->architecture_flag(architecture);
    number.erase(std::min(number.size(), number.find_first_not_of("0123456789.")));
    return base::Dotted::parse(number);
}

// A word of `allowed` of a row of GPUs.
struct GpuWord {
    std::string_view architecture;
    bool is_refused = false, is_least = false;

    explicit GpuWord(std::string_view word) : architecture(word) {
        is_refused = architecture.starts_with('!');
        is_least = architecture.ends_with('+') && architecture.find(':') == std::string_view::npos;
        architecture.remove_prefix(is_refused ? 1 : 0);
        architecture.remove_suffix(is_least ? 1 : 0);
    }
    [[nodiscard]] bool is_valid() const {
        return accelerator::is_gpu_architecture(architecture) && (!is_least || order_of(architecture));
    }
    [[nodiscard]] bool means(std::string_view gpu) const {
        const auto own = order_of(architecture), other = order_of(gpu);
        if (own && other) return is_least ? *own <= *other : *own == *other;
        return architecture == gpu;
    }
};

bool are_gpus(const std::string& allowed) {
    const auto words = base::split(allowed, ' ');
    return std::all_of(words.begin(), words.end(),
                       [](std::string_view word) { return GpuWord(word).is_valid(); });
}

struct VersionsFile {
    io::TomlPairs sources;
    std::vector<VersionPair> pairs;
};

void check_pair(io::TomlTable& table, VersionPair& pair, VersionsFile& file) {
    pair.version_set = wheel::SpecifierSet::parse(pair.versions).value_or(wheel::SpecifierSet());
    const bool is_of_gpu = pair.is_of_gpu(), is_limit = pair.use == PairUse::limit;
    if (is_limit && (pair.why.empty() || !pair.allowed.empty()))
        table.report("use", "a limit has `why`, and no `allowed`");
    if (!is_limit && (is_of_gpu ? !are_gpus(pair.allowed) : !is_version_range(pair.allowed)))
        table.report("allowed", std::string("expected ") +
                                    (is_of_gpu ? "architectures such as `sm_75 sm_80`, `sm_80+` or `!gfx950`"
                                               : "a specifier such as `>=2.3,<2.6`") +
                                    ", found `" + pair.allowed + "`");
    if (is_of_gpu && !is_of_machine(pair.use))
        table.report("use", "of a GPU's row it is `machine` or `tested`");
    if (!is_of_gpu && !is_limit)
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
                          key("allowed", &V::allowed),
                          io::word<uses>("use", &V::use),
                          key("stable_abi", &V::stable_abi),
                          key("unless", &V::unless),
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

std::string VersionPair::bound() const {
    return with + (is_of_gpu() ? " " : "") + allowed;
}

bool VersionPair::allows_gpu(std::string_view architecture) const {
    const auto* kind = accelerator::kind_of_architecture(architecture);
    if (accelerator::find_accelerator_kind(package) != nullptr)  // a toolkit
        architecture = architecture.substr(0, architecture.find(':'));
    bool names_some = false, has_it = false;
    for (const std::string_view one : base::split(allowed, ' ')) {
        const GpuWord word(one);
        if (accelerator::kind_of_architecture(word.architecture) != kind) continue;
        if (word.is_refused && word.means(architecture)) return false;
        names_some = names_some || !word.is_refused;
        has_it = has_it || (!word.is_refused && word.means(architecture));
    }
    return has_it || !names_some;
}

std::string VersionPair::text() const {
    return bound() + " (" + package + versions + ": " + (why.empty() ? "" : why + "; ") + source + "; " +
           place + ")";
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
            text += "| `" + pair.package + versions + "` | `" + pair.bound() + "` | " +
                    (pair.stable_abi ? "stable ABI: " : "") + pair.why +
                    (pair.unless.empty() ? "" : ", unless `" + base::join(pair.unless, "`, `") + "`") +
                    " | " + link_to(pair.source) + " |\n";
        }
    }
    return text;
}

}  // namespace wheelyard::builder
