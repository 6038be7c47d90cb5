// Chooses a version from the offers of sources, the pins of recipes and the exclusions of sites.
#include "builder/plan/version_choice.hpp"

#include <algorithm>

#include "builder/plan/pair_bounds.hpp"
#include "builder/plan/upstream_wheels.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

using wheel::Version;

// The newest version in the set; pre-releases only if nothing else matches (PEP 440 "Handling of pre-releases").
std::optional<Version> newest(const std::vector<Version>& versions, const wheel::SpecifierSet& set) {
    for (const auto prereleases : {wheel::Prereleases::as_specified, wheel::Prereleases::allowed}) {
        std::optional<Version> best;
        for (const auto& version : versions) {
            if (set.contains(version, prereleases) && (!best || *best < version)) best = version;
        }
        if (best) return best;
    }
    return std::nullopt;
}

bool names(const std::vector<std::string>& list, const std::string& name) {
    return list.empty() || std::find(list.begin(), list.end(), name) != list.end();
}

// Collects the versions to choose from, or returns why they are not known.
Choice gather(const ChoiceInput& input, std::vector<Version>& versions) {
    const Recipe& recipe = input.recipe;
    if (recipe.source == SourceKind::path) {
        return {std::nullopt, CellState::impossible,
                "a path source has one version: write it into `versions`"};
    }
    if (recipe.source == SourceKind::tarball) {
        for (const auto& [text, digest] : recipe.sha256)
            versions.push_back(*Version::parse(text));
        return {};
    }
    const auto offers = input.world.offers.find(recipe.package);
    if (offers == input.world.offers.end())
        return {std::nullopt, CellState::unknown, "the source index was not queried"};
    if (!offers->second) return {std::nullopt, CellState::unknown, offers->second.error().text()};
    const bool takes_wheels = recipe.source == SourceKind::upstream;
    for (const auto& offer : takes_wheels ? offers->second->wheels : offers->second->sdists) {
        const bool fits = takes_wheels ? fits_python(offer, input.python)
                                       : accepts_python(offer.requires_python, input.python);
        if (!offer.yanked && fits) versions.push_back(offer.version);
    }
    return {};
}

// Why no offer remains: the version, the Python, or there is nothing to build.
std::string why_no_version(const ChoiceInput& input, const std::string& wanted,
                           const wheel::SpecifierSet& set) {
    const auto found = input.world.offers.find(input.recipe.package);
    const bool are_known = found != input.world.offers.end() && found->second;
    if (are_known && input.recipe.source == SourceKind::sdist) {
        const SdistOffers& offers = *found->second;
        const SdistOffer* newest = nullptr;
        for (const auto& offer : offers.sdists) {
            const bool fits = !offer.yanked && set.contains(offer.version, wheel::Prereleases::allowed);
            if (fits && (newest == nullptr || newest->version < offer.version)) newest = &offer;
        }
        if (newest == nullptr)
            return why_no_sdist(input.recipe.package, offers, wanted) +
                   wheel_instead(offers, wanted, input.python);
        return "every sdist of `" + input.recipe.package + "` that `" + wanted +
               "` means needs another Python: " + newest->version.text() + " requires " +
               newest->requires_python + ", and this is " + input.python.full_version +
               wheel_instead(offers, wanted, input.python);
    }
    if (are_known && input.recipe.source == SourceKind::upstream)
        return why_no_wheel(input.recipe.package, *found->second, wanted, input.python);
    return "no sdist of `" + input.recipe.package + "` matches `" + wanted + "` and Python " +
           input.python.full_version;
}

}  // namespace

bool accepts_python(const std::string& requires_python, const Python& python) {
    if (requires_python.empty()) return true;
    const auto set = wheel::SpecifierSet::parse(requires_python);
    const auto version = Version::parse(python.full_version);
    return !set || !version ||
           set->contains(*version, wheel::Prereleases::allowed);  // pip ignores an invalid one, too
}

std::optional<Objection> find_objection(const ChoiceInput& input, const Version& version) {
    const auto contains = [&version](const wheel::SpecifierSet& set) {
        return set.contains(version.without_local(), wheel::Prereleases::allowed);
    };
    for (const auto& bad : input.site.known_bad) {
        if (bad.package != input.want.package || !contains(bad.versions)) continue;
        if (!names(bad.accelerators, input.accelerator)) continue;
        return Objection{CellState::impossible,
                         "known to be bad on " + input.site.name + ": " + bad.reason +
                             (bad.instead.empty() ? "" : "; use " + bad.instead + " instead")};
    }
    for (const auto& exclusion : input.want.exclude) {
        if (!contains(exclusion.versions) || !names(exclusion.pythons, input.python.version)) continue;
        if (!names(exclusion.accelerators, input.accelerator)) continue;
        return Objection{CellState::excluded, exclusion.reason};
    }
    const auto misfit = find_misfit({input.site, input.recipe, version, input.python, input.accelerator});
    if (misfit) return Objection{CellState::impossible, *misfit};
    return std::nullopt;
}

Choice choose_version(const ChoiceInput& input, const std::string& wanted) {
    if (const auto exact = Version::parse(wanted)) return {*exact, CellState::wanted, ""};
    const auto set = wheel::SpecifierSet::parse(wanted == "latest" ? "" : wanted);
    if (!set) {
        return {std::nullopt, CellState::impossible,
                "`" + wanted + "` is not a version: " + set.error().sentence};
    }
    std::vector<Version> versions;
    if (Choice none = gather(input, versions); none.state != CellState::wanted) return none;
    std::optional<Objection> objection;
    std::erase_if(versions, [&](const Version& version) {
        if (!set->contains(version)) return false;
        auto against = find_objection(input, version);
        if (!against) {
            if (const auto unknown =
                    find_unknown({input.site, input.recipe, version, input.python, input.accelerator});
                unknown && !input.site.build_unknown)
                against = Objection{CellState::unknown, unknown->reason};
        }
        if (against) objection = against;
        return against.has_value();
    });
    auto best = newest(versions, *set);
    if (best) return {std::move(best), CellState::wanted, ""};
    if (objection) return {std::nullopt, objection->state, objection->reason};
    const auto offers = input.world.offers.find(input.recipe.package);
    if (offers != input.world.offers.end() && offers->second && offers->second->unanswered)
        return {std::nullopt, CellState::unknown, offers->second->unanswered->text()};
    return {std::nullopt, CellState::impossible, why_no_version(input, wanted, *set)};
}

std::vector<Version> companions_of(const Recipe& recipe, const Version& other) {
    std::vector<Version> all;
    for (const auto& [own, specifier] : recipe.against_versions) {
        const auto set = wheel::SpecifierSet::parse(specifier);
        const auto version = Version::parse(own);
        if (set && version && set->contains(other.without_local(), wheel::Prereleases::allowed))
            all.push_back(*version);
    }
    return all;
}

std::optional<Version> companion_of(const Recipe& recipe, const Version& other) {
    const auto all = companions_of(recipe, other);
    const auto best = std::max_element(all.begin(), all.end());
    return best == all.end() ? std::nullopt : std::optional(*best);
}

}  // namespace wheelyard::builder
