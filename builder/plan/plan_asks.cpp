// The queries that a plan needs: the packages, and those whose sources must be known.
#include <algorithm>

#include "builder/plan/plan.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

using wheel::Version;

std::vector<Want> wanted_packages(const Site& site, const Recipes& recipes) {
    std::vector<Want> wants = site.wants;
    for (const auto& want : site.wants) {
        for (const auto& package : want.follow_ups) {
            Want companion{package, {}, want.pythons};
            for (const auto& [own, other] : recipes.of(package).against_versions)
                companion.versions.push_back(own);
            wants.push_back(std::move(companion));
        }
    }
    return wants;
}

bool needs_offers(const Want& want, const Recipe& recipe, const World& world) {
    if (want.uploaded || want.of_closure) return false;  // a closure names a version and a file
    if (recipe.source == SourceKind::path || recipe.source == SourceKind::tarball) return false;
    for (const auto& text : want.versions) {
        const auto exact = Version::parse(text);
        if (!exact) return true;
        if (recipe.source == SourceKind::git) continue;  // the fetch shows whether the source exists
        const auto page = world.published.find(want.package);
        const bool published =
            page != world.published.end() && page->second && *page->second &&
            std::any_of((*page->second)->files.begin(), (*page->second)->files.end(), [&](const auto& f) {
                const auto name = wheel::parse_wheel_filename(f.filename);
                return name && name->version.compare_public(*exact) == std::strong_ordering::equal;
            });
        const bool tried =
            std::any_of(world.attempts.begin(), world.attempts.end(), [&](const Attempt& attempt) {
                return attempt.asked.package == want.package &&
                       without_label(attempt.asked.version) == exact->text();
            });
        if (!published && !tried) return true;
    }
    return false;
}

}  // namespace wheelyard::builder
