// One comparison for each form of a subject.
#include "builder/pairs/proposals.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"

namespace wheelyard::builder {
namespace {

using wheel::Version;

// PyTorch's own index alone has the first two; the public index's `apex` is another project.
constexpr std::string_view of_another_index[] = {"pytorch-triton-rocm", "triton-rocm", "triton-xpu", "apex"};

constexpr auto finding_words = base::words<PairFinding>({{PairFinding::proposed, "proposed"},
                                                         {PairFinding::differs, "differs"},
                                                         {PairFinding::newer, "newer"},
                                                         {PairFinding::lacking, "lacking"},
                                                         {PairFinding::unread, "unread"}});

bool is_of(const VersionPair& row, std::string_view package, std::string_view with) {
    return row.package == package && row.with == with;
}

// `==2.4.0` → 2.4.0, of a row of a companion.
Version version_of(const VersionPair& row) {
    return exact_version(row.package + row.versions)->second;
}

bool contains(const wheel::SpecifierSet& set, const Version& version) {
    return set.contains(version, wheel::Prereleases::allowed);
}

// "2.15.0" → "2.15".
std::string series_of(const Version& version) {
    const auto& release = version.release();
    return release[0].text() + "." + (release.size() > 1 ? release[1].text() : "0");
}

// The first version that a subject is compared from: the oldest that the table names.
Version first_version(const std::vector<VersionPair>& table, const PairSubject& subject) {
    std::optional<Version> first;
    for (const auto& row : table) {
        if (!is_of(row, subject.package, subject.with) || row.use != PairUse::companion) continue;
        if (!first || version_of(row) < *first) first = version_of(row);
    }
    return first ? *first : *Version::parse(subject.since);
}

// "==2.6.0" of "torch (==2.6.0)", ">=2.14.0" of "torch>=2.14.0"; nullopt: neither.
struct Pin {
    Version version;
    bool exact = true;
};
std::optional<Pin> pin_of(const wheel::Requirement& requirement) {
    const auto& all = requirement.specifiers.specifiers();
    if (all.size() != 1) return std::nullopt;
    const bool is_bound = all[0].comparison() == wheel::Comparison::greater_equal;
    if (!all[0].is_exact() && !is_bound) return std::nullopt;
    const std::string text = all[0].text();
    const auto version = Version::parse(text.substr(text.find_first_not_of("=>")));
    return version ? std::optional(Pin{version->without_local(), !is_bound}) : std::nullopt;
}

const wheel::Requirement* find_requirement(const Release& release,
                                           const std::vector<std::string_view>& names) {
    for (const auto& one : release.requirements) {
        if (std::any_of(names.begin(), names.end(),
                        [&](auto name) { return base::matches_glob(name, one.project); }))
            return &one;
    }
    return nullptr;
}

class Comparer {
  public:
    Comparer(const std::vector<VersionPair>& table, const Projects& projects)
        : table_(table), projects_(projects) {}

    PairComparison compare() {
        for (const auto& name : projects_to_read(table_)) {
            const auto& project = project_of(name);
            if (project.releases.empty())
                add(PairFinding::unread, named(name, "", ""), "the index has no release of it");
            for (const auto& problem : project.problems)
                add(PairFinding::unread, named(name, "", ""), problem);
        }
        for (const auto& subject : pair_subjects()) {
            if (subject.form == PairForm::companion) compare_companion(subject);
            if (subject.form == PairForm::required) compare_required(subject);
            if (subject.form == PairForm::python) compare_pythons(subject);
            if (subject.form == PairForm::library || subject.form == PairForm::toolkit)
                compare_library(subject);
        }
        for (const auto& row : table_)
            look_for_newer(row);
        return std::move(result_);
    }

  private:
    void add(PairFinding finding, VersionPair row, std::string says) {
        result_.lines.push_back({finding, std::move(row), std::move(says)});
    }
    static VersionPair named(std::string_view package, const std::string& versions, std::string_view with) {
        VersionPair row;
        row.package = package;
        row.versions = versions;
        row.with = with;
        return row;
    }
    [[nodiscard]] const Project& project_of(std::string_view name) const {
        static const Project none;
        const auto found = projects_.find(std::string(name));
        return found == projects_.end() ? none : found->second;
    }
    VersionPair proposal(std::string_view package, const std::string& versions, std::string_view with,
                         const std::string& allowed, PairUse use, std::string_view from) const {
        VersionPair row = named(package, versions, with);
        row.version_set = *wheel::SpecifierSet::parse(versions);
        row.allowed = allowed;
        row.allowed_set = *wheel::SpecifierSet::parse(allowed);
        row.use = use;
        row.why = use == PairUse::companion ? "its wheel requires it" : "by the metadata of its wheel";
        if (from != package) row.why = "the wheel of " + std::string(from) + " requires it";
        row.source = project_of(from).source;
        return row;
    }
    // The row of one version of a companion.
    [[nodiscard]] const VersionPair* row_of(std::string_view package, std::string_view with,
                                            const Version& version) const {
        for (const auto& row : table_) {
            if (row.use == PairUse::companion && is_of(row, package, with) && version_of(row) == version)
                return &row;
        }
        return nullptr;
    }
    void check(const VersionPair& row, const Version& pinned, const std::string& says) {
        if (contains(row.allowed_set, pinned)) {
            ++result_.agreeing;
        } else {
            add(PairFinding::differs, row, says);
        }
    }

    // Users want the newest of several releases that require the same version. Of the releases that require a version or
    // a newer one, only the newest counts.
    void compare_companion(const PairSubject& subject) {
        std::map<Version, const Release*> newest;  // by the version that it requires exactly
        const Release* loose = nullptr;
        std::optional<Version> loose_from;
        const Version first = first_version(table_, subject);
        for (const auto& release : project_of(subject.package).releases) {
            const auto* requirement = find_requirement(release, {subject.with});
            const auto pin = requirement == nullptr ? std::nullopt : pin_of(*requirement);
            if (release.version < first || !pin || (!pin->exact && !release.one_for_all)) continue;
            if (const auto* row = row_of(subject.package, subject.with, release.version))
                check(*row, pin->version, "its wheel requires " + requirement->text());
            if (pin->exact) {
                newest.insert_or_assign(pin->version, &release);
            } else {
                loose = &release;
                loose_from = pin->version;
            }
        }
        for (const auto& [pinned, release] : newest) {
            const bool is_covered =
                loose != nullptr && release->version < loose->version && !(pinned < *loose_from);
            if (!is_covered) propose_companion(subject, *release, "==" + pinned.text());
        }
        if (loose != nullptr) propose_companion(subject, *loose, ">=" + loose_from->text());
    }

    void propose_companion(const PairSubject& subject, const Release& release, const std::string& allowed) {
        if (row_of(subject.package, subject.with, release.version) != nullptr) return;
        auto row = proposal(subject.package, "==" + release.version.text(), subject.with, allowed,
                            PairUse::companion, subject.package);
        row.stable_abi = allowed.starts_with(">=") && !release.is_pure;
        add(PairFinding::proposed, row, "its wheel requires " + std::string(subject.with) + allowed);
    }

    // The releases of `with` that one version of `package` is for, as one specifier.
    [[nodiscard]] std::string cover(std::string_view with, const std::vector<Version>& versions) const {
        if (versions.size() == 1) return "==" + versions.front().text();
        std::size_t of_series = 0;
        for (const auto& release : project_of(with).releases) {
            if (series_of(release.version) == series_of(versions.front())) ++of_series;
        }
        const bool is_one_series = series_of(versions.front()) == series_of(versions.back());
        if (is_one_series && of_series == versions.size()) return "==" + series_of(versions.front()) + ".*";
        return ">=" + versions.front().text() + ",<=" + versions.back().text();
    }

    void compare_required(const PairSubject& subject) {
        std::map<Version, std::vector<Version>> users;  // by the version of `package`
        for (const auto& release : project_of(subject.with).releases) {
            const auto* requirement = find_requirement(release, {subject.package});
            if (requirement == nullptr || requirement->specifiers.empty()) continue;
            const Version* best = nullptr;
            for (const auto& one : project_of(subject.package).releases) {
                if (contains(requirement->specifiers, one.version)) best = &one.version;
            }
            if (best != nullptr) users[*best].push_back(release.version);
        }
        for (const auto& [version, of] : users) {
            if (const auto* row = row_of(subject.package, subject.with, version)) {
                for (const auto& one : of)
                    check(*row, one,
                          "the wheel of " + std::string(subject.with) + " " + one.text() + " requires it");
                continue;
            }
            add(PairFinding::proposed,
                proposal(subject.package, "==" + version.text(), subject.with, cover(subject.with, of),
                         PairUse::companion, subject.with),
                "required by " + std::string(subject.with) + " " + of.front().text() +
                    (of.size() > 1 ? " to " + of.back().text() : ""));
        }
    }

    // The newest release of each series.
    [[nodiscard]] std::vector<const Release*> series(const PairSubject& subject) const {
        std::map<std::string, const Release*> newest;
        const Version first = *Version::parse(subject.since);
        for (const auto& release : project_of(subject.package).releases) {
            if (release.has_wheel && !(release.version < first))
                newest[series_of(release.version)] = &release;
        }
        std::vector<const Release*> all;
        for (const auto& [name, release] : newest)
            all.push_back(release);
        std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->version < b->version; });
        return all;
    }

    // Checks `value` against the rows for this release. False: there is none.
    bool check_machine(const PairSubject& subject, const Release& release, const Version& value,
                       const std::string& says) {
        bool is_named = false;
        for (const auto& row : table_) {
            if (!is_of_machine(row.use) || !is_of(row, subject.package, subject.with) ||
                !contains(row.version_set, release.version))
                continue;
            is_named = true;
            check(row, value, says);
        }
        return is_named;
    }

    void compare_pythons(const PairSubject& subject) {
        for (const Release* release : series(subject)) {
            if (!release->newest_python || release->requires_python.empty()) continue;
            const std::string says = release->version.text() + " requires Python " +
                                     release->requires_python + ", and its wheels end with " +
                                     release->newest_python->text();
            if (check_machine(subject, *release, *release->newest_python, says)) continue;
            const auto& last = release->newest_python->release();
            const std::string next =
                last[0].text() + "." + std::to_string(base::parse_decimal(last[1].text()).value_or(0) + 1);
            // Only the lower bound of Requires-Python: the wheels decide the upper one.
            const std::string lower = ">=" + oldest_python(release->requires_python).value_or("3");
            add(PairFinding::proposed,
                proposal(subject.package, "==" + series_of(release->version) + ".*", subject.with,
                         lower + ",<" + next, PairUse::tested, subject.package),
                says);
        }
    }

    void compare_library(const PairSubject& subject) {
        for (const Release* release : series(subject)) {
            const auto* requirement = find_requirement(*release, subject.requirements);
            const auto pin = requirement == nullptr ? std::nullopt : pin_of(*requirement);
            if (!pin) continue;
            const std::string says =
                release->version.text() + " requires " + requirement->project + " " + pin->version.text();
            if (check_machine(subject, *release, pin->version, says)) continue;
            const std::string versions = "==" + series_of(release->version) + ".*";
            if (subject.form == PairForm::toolkit) {
                add(PairFinding::lacking, named(subject.package, versions, subject.with), says);
                continue;
            }
            add(PairFinding::proposed,
                proposal(subject.package, versions, subject.with, ">=" + pin->version.release()[0].text(),
                         PairUse::tested, subject.package),
                says);
        }
    }

    // A companion with a release after its newest row, and what it is built against, unless rows are proposed for it.
    void look_for_newer(const VersionPair& row) {
        if (row.use != PairUse::companion ||
            std::count(std::begin(of_another_index), std::end(of_another_index), row.package) != 0)
            return;
        const bool is_newest = std::none_of(table_.begin(), table_.end(), [&](const VersionPair& other) {
            return other.use == PairUse::companion && is_of(other, row.package, row.with) &&
                   version_of(row) < version_of(other);
        });
        const auto& releases = project_of(row.package).releases;
        if (!is_newest || releases.empty()) return;
        const Version& last = releases.back().version;
        const bool is_proposed =
            std::any_of(result_.lines.begin(), result_.lines.end(), [&](const PairLine& line) {
                return line.finding == PairFinding::proposed && line.row.package == row.package &&
                       line.row.use == PairUse::companion;
            });
        if (version_of(row) < last && !is_proposed)
            add(PairFinding::newer, named(row.package, "==" + last.text(), row.with),
                "released after " + row.versions.substr(2) + ", its newest row, and no metadata says which " +
                    row.with + " it is for");
    }

    const std::vector<VersionPair>& table_;
    const Projects& projects_;
    PairComparison result_;
};

}  // namespace

const std::vector<PairSubject>& pair_subjects() {
    static const std::vector<PairSubject> subjects = {
        {PairForm::companion, "torchvision", "torch", "0.14.1"},
        {PairForm::companion, "torchaudio", "torch", "0.13.1"},
        {PairForm::companion, "xformers", "torch", "0.0.21"},
        {PairForm::companion, "vllm", "torch", "0.8.0"},
        {PairForm::companion, "torchmetrics", "torch", "1.0.3"},
        {PairForm::required, "triton", "torch", "2.0"},
        {PairForm::python, "torch", "python", "1.13"},
        {PairForm::library, "torch", "cudnn", "2.1", {"nvidia-cudnn-cu*"}},
    };
    static const std::vector<PairSubject> all = [] {
        std::vector<PairSubject> with_toolkits = subjects;
        for (const auto* kind : accelerator::accelerator_kinds()) {
            if (kind->toolkit_wheels.empty()) continue;
            with_toolkits.push_back({PairForm::toolkit,
                                     "torch",
                                     kind->name,
                                     "1.13",
                                     {kind->toolkit_wheels.begin(), kind->toolkit_wheels.end()}});
        }
        return with_toolkits;
    }();
    return all;
}

std::string_view pair_finding_text(PairFinding finding) {
    return finding_words.text(finding);
}

std::vector<std::string> projects_to_read(const std::vector<VersionPair>& table) {
    std::set<std::string> names;
    for (const auto& subject : pair_subjects()) {
        names.emplace(subject.package);
        if (subject.form == PairForm::required) names.emplace(subject.with);
    }
    for (const auto& row : table) {
        if (row.use == PairUse::companion) names.insert(row.package);
    }
    for (const auto name : of_another_index)
        names.erase(std::string(name));
    return {names.begin(), names.end()};
}

bool needs_metadata(const std::vector<VersionPair>& table, const std::string& project,
                    const Version& version) {
    return std::any_of(pair_subjects().begin(), pair_subjects().end(), [&](const PairSubject& subject) {
        if (subject.form == PairForm::required)
            return subject.with == project && !(version < *Version::parse(subject.since));
        const bool is_companion = subject.form == PairForm::companion;
        const Version first = is_companion ? first_version(table, subject) : *Version::parse(subject.since);
        return subject.package == project && !(version < first);
    });
}

PairComparison compare_pairs(const std::vector<VersionPair>& table, const Projects& projects) {
    return Comparer(table, projects).compare();
}

}  // namespace wheelyard::builder
