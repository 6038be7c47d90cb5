#include "builder/plan/pair_bounds.hpp"

#include <map>

#include "builder/site/version_pairs.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"

namespace wheelyard::builder {
namespace {

using wheel::Version;

// "9.2.0.82-12" and "v2.21.5-1" → 9.2.0.82 and 2.21.5: what follows the hyphen is the packaging.
std::optional<Version> version_in(std::string_view text) {
    const auto parsed = Version::parse(text.substr(0, text.find('-')));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

// What the site provides for a cell, by name: its Python, its modules, `[versions]`.
std::map<std::string, Version> provided(const PairInput& input) {
    std::map<std::string, Version> all;
    const auto add = [&all](const std::string& name, std::string_view text) {
        if (const auto version = version_in(text))
            all.insert_or_assign(wheel::normalize_name(name), *version);
    };
    for (const auto& [name, version] : input.site.provided_versions)
        add(name, version);
    const Accelerator* accelerator = input.site.accelerator(input.accelerator);
    std::vector<std::string> modules = input.site.modules.load;
    if (accelerator != nullptr)
        modules.insert(modules.end(), accelerator->modules.begin(), accelerator->modules.end());
    for (const auto& module : modules) {
        const auto slash = module.find('/');
        if (slash != std::string::npos) add(module.substr(0, slash), module.substr(slash + 1));
    }
    add("python", input.python.full_version);
    return all;
}

std::vector<PackageVersion> packages_of(const PairInput& input) {
    std::vector<PackageVersion> packages = {{input.recipe.package, input.version}};
    for (const auto& beside : input.recipe.beside) {
        if (const auto version = version_in(beside.tag)) packages.emplace_back(beside.name, *version);
    }
    return packages;
}

}  // namespace

std::optional<std::string> find_misfit(const PairInput& input) {
    const auto packages = packages_of(input);
    auto there = provided(input);
    for (const auto& [name, version] : packages)
        there.insert_or_assign(name, version);
    for (const auto& pair : pairs_for(input.site.version_pairs, packages, {PairUse::machine})) {
        const auto found = there.find(pair.with);
        if (found == there.end() || pair.allowed_set.contains(found->second, wheel::Prereleases::allowed))
            continue;
        return "the site has " + pair.with + " " + found->second.text() + ", it needs " + pair.text();
    }
    return std::nullopt;
}

std::vector<std::string> cite_bounds(const PairInput& input) {
    std::vector<PackageVersion> packages = {{input.recipe.package, input.version}};
    if (const auto against = exact_version(input.against)) packages.push_back(*against);
    std::vector<std::string> cited;
    for (const auto& pair :
         pairs_for(input.site.version_pairs, packages, {PairUse::build, PairUse::run, PairUse::machine}))
        cited.push_back(pair.with + pair.allowed + " by " + pair.place);
    return cited;
}

}  // namespace wheelyard::builder
