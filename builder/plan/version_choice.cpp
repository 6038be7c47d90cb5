// Chooses a version from the offers of sources, the pins of recipes and the exclusions of sites.
#include "builder/plan/version_choice.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "builder/plan/offers.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/site/version_pairs.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

namespace {

using wheel::Version;

// The newest version in the set; pre-releases only if nothing else matches (PEP 440 "Handling of
// pre-releases").
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
        return why_no_wheel(input.recipe.package, *found->second, wanted, input.python) +
               (input.recipe.upstream_why.empty() ? "" : "; " + input.recipe.upstream_why);
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
    const Recipe recipe = input.recipe_of(version);
    const auto misfit = find_misfit({input.site, recipe, version, input.python, input.accelerator});
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
    const Accelerator* accelerator = input.site.accelerator(input.accelerator);
    const std::vector<std::string> modules = modules_of(input.site, nullptr, accelerator);
    const auto* kind =
        accelerator == nullptr ? nullptr : accelerator::find_accelerator_kind(accelerator->kind);
    const accelerator::Texts toolkits = kind == nullptr ? accelerator::Texts() : kind->toolkit_modules;
    for (const auto& module : modules) {
        const auto slash = module.find('/');
        if (slash == std::string::npos) continue;
        const std::string name = module.substr(0, slash), version = module.substr(slash + 1);
        const bool is_toolkit = std::find(toolkits.begin(), toolkits.end(), name) != toolkits.end();
        add(name, is_toolkit ? accelerator::toolkit_version(version) : version);
    }
    // A module's name may say less than the site knows: "CUDA/12" is 12.6, and "CUDA/13" is another one.
    for (const auto& [name, version] : input.site.provided_versions) {
        const auto named = all.find(wheel::normalize_name(name));
        if (named == all.end() || version.starts_with(named->second.text() + ".")) add(name, version);
    }
    add("python", input.python.full_version);
    // "cudatoolkit/11.0" provides CUDA, too.
    for (const auto name : toolkits) {
        if (const auto found = all.find(std::string(name)); found != all.end())
            all.emplace(kind->name, found->second);
    }
    return all;
}

std::string_view kind_of(const PairInput& input) {
    const Accelerator* accelerator = input.site.accelerator(input.accelerator);
    return accelerator == nullptr ? std::string_view() : std::string_view(accelerator->kind);
}

std::vector<PackageVersion> packages_of(const PairInput& input) {
    std::vector<PackageVersion> packages = {{input.recipe.package, input.version}};
    for (const auto& beside : input.recipe.beside) {
        if (const auto version = version_in(beside.tag)) packages.emplace_back(beside.name, *version);
    }
    return packages;
}

// The toolkit of the accelerator, which has rows of its own. Of "12" alone the release is not known.
std::optional<PackageVersion> toolkit_of(const PairInput& input,
                                         const std::map<std::string, Version>& there) {
    const auto toolkit = there.find(std::string(kind_of(input)));
    if (toolkit == there.end() || toolkit->second.text().find('.') == std::string::npos) return std::nullopt;
    return PackageVersion{toolkit->first, toolkit->second};
}

// What the job's environment has of the site, the accelerator and the recipe.
Environment variables_of(const PairInput& input) {
    Environment variables = input.site.modules.environment;
    merge_environment(variables, input.site.environment);
    if (const Accelerator* accelerator = input.site.accelerator(input.accelerator))
        merge_environment(variables, accelerator->environment);
    merge_environment(variables, input.recipe.build_environment);
    return variables;
}

std::string steps_of(const Recipe& recipe) {
    return base::join(recipe.before, "\n") + "\n" + base::join(recipe.configure, "\n");
}

// The variables, a line each, and the steps of the recipe, which can set others.
std::string settings_of(const PairInput& input) {
    std::string settings = steps_of(input.recipe);
    for (const auto& [name, value] : variables_of(input))
        settings += "\n" + name + "=" + value;
    return settings;
}

// What can name nvcc's host compiler, or pass options of any kind to nvcc.
constexpr std::array<std::string_view, 11> of_host_compiler = {
    "CXX=",       "NVCC_CCBIN", "CUDAHOSTCXX",       "CUDA_HOST_COMPILER", "ccbin", "CUDAFLAGS", "CMAKE_ARGS",
    "CUDA_FLAGS", "NVCC_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS",
};

// The compiler that nvcc calls, by its name in rows: the g++ of PATH, unless a variable, a step of the recipe
// or `compilers.cxx` says otherwise; empty: another one, or not known.
std::string_view host_compiler(const PairInput& input) {
    const std::string settings = settings_of(input);
    const bool is_named =
        std::any_of(of_host_compiler.begin(), of_host_compiler.end(),
                    [&settings](std::string_view text) { return settings.find(text) != std::string::npos; });
    const std::string& cxx = input.site.compilers.cxx;
    if (is_named) return "";
    if (cxx.empty() || cxx == "g++") return "gcc";
    return cxx == "clang++" ? "clang" : "";
}

std::map<std::string, Version> all_there(const PairInput& input,
                                         const std::vector<PackageVersion>& packages) {
    auto there = provided(input);
    for (const auto& [name, version] : packages) {
        if (name != input.recipe.package || there.count(name) == 0)  // GDAL's bindings are `gdal`, too
            there.insert_or_assign(name, version);
    }
    return there;
}

bool covers(const VersionPair& pair, const Version& version) {
    return pair.version_set.contains(version.without_local(), wheel::Prereleases::allowed);
}

// The version that a row begins with: ">=2.9,<2.11" and "==2.9.*" → 2.9.
std::optional<Version> first_version(const VersionPair& pair) {
    const auto begin = pair.versions.find_first_of("0123456789");
    if (begin == std::string::npos) return std::nullopt;
    const auto end = pair.versions.find_first_not_of("0123456789.", begin);
    std::string text = pair.versions.substr(begin, end == std::string::npos ? end : end - begin);
    if (text.ends_with('.')) text.pop_back();
    const auto parsed = Version::parse(text);
    return parsed ? std::optional(*parsed) : std::nullopt;
}

// The row with the greatest beginning below `version`, else the one with the smallest. Precondition: not
// empty.
const VersionPair& nearest_row(const std::vector<const VersionPair*>& rows, const Version& version) {
    const VersionPair* below = nullptr;
    const VersionPair* smallest = rows.front();
    for (const VersionPair* row : rows) {
        const auto first = first_version(*row);
        if (!first) continue;
        if (*first < version && (below == nullptr || *first_version(*below) < *first)) below = row;
        const auto of_smallest = first_version(*smallest);
        if (!of_smallest || *first < *of_smallest) smallest = row;
    }
    return below == nullptr ? *smallest : *below;
}

// A wheel of an upstream is not compiled here and brings its libraries: only the Python has to fit.
bool is_of_wheel(const PairInput& input, const std::string& with) {
    return !input.recipe.mirrored || with == "python";
}

bool is_switched_off(const VersionPair& pair, const PairInput& input) {
    if (pair.unless.empty()) return false;
    const std::string settings = settings_of(input);
    return std::any_of(pair.unless.begin(), pair.unless.end(), [&settings](const std::string& one) {
        return settings.find(one + "=") != std::string::npos;
    });
}

// Says whether a variable of the recipe has the accelerator's GPUs, and no step sets it again: what else a
// recipe compiles for is not known.
bool passes_gpus_on(const PairInput& input) {
    const std::string placeholder = std::string(kind_of(input)) + "_architectures";
    const std::string steps = steps_of(input.recipe);
    const Environment& own = input.recipe.build_environment;
    return std::any_of(own.begin(), own.end(), [&](const auto& one) {
        return fill_placeholders(one.second, {{placeholder, ""}}) != one.second &&
               steps.find(one.first + "=") == std::string::npos;
    });
}

// The first row of `use` that applies and does not allow what is there.
std::optional<VersionPair> first_broken(const PairInput& input, const std::vector<PackageVersion>& packages,
                                        const std::map<std::string, Version>& there, PairUse use) {
    for (const auto& pair : pairs_for(input.site.version_pairs, packages, {use})) {
        const auto found = there.find(pair.with);
        if (!is_of_wheel(input, pair.with) || is_switched_off(pair, input)) continue;
        if (found != there.end() && !pair.allowed_set.contains(found->second, wheel::Prereleases::allowed))
            return pair;
    }
    return std::nullopt;
}

// "; torch>=2.12,<2.14 is the newest that takes cuda 12.3"; empty: no row takes it.
std::string newest_that_takes(const std::vector<VersionPair>& pairs, const VersionPair& broken,
                              const std::string& what, const std::function<bool(const VersionPair&)>& takes) {
    const VersionPair* newest = nullptr;
    for (const auto& pair : pairs) {
        if (pair.use != broken.use || pair.package != broken.package || pair.with != broken.with ||
            !takes(pair))
            continue;
        if (newest == nullptr || first_version(*newest) < first_version(pair)) newest = &pair;
    }
    if (newest == nullptr) return "";
    return "; " + broken.package + newest->versions + " is the newest that takes " + what;
}

UnknownPair untested_pair(const VersionPair& pair, const std::string& found) {
    return {"untested: upstream builds " + pair.package + pair.versions + " with " + pair.bound() +
                ", the site has " + found,
            pair.text()};
}

// The package, what it is built against, and the toolkit.
std::vector<PackageVersion> compiled_with(const PairInput& input) {
    auto packages = packages_of(input);
    if (auto toolkit = toolkit_of(input, all_there(input, packages))) packages.push_back(std::move(*toolkit));
    return packages;
}

// Says whether rows of GPUs are asked.
bool compiles_for_gpus(const PairInput& input) {
    return input.recipe.source != SourceKind::upstream && passes_gpus_on(input);
}

}  // namespace

std::optional<UnknownPair> find_unknown(const PairInput& input) {
    const auto packages = packages_of(input);
    const auto there = all_there(input, packages);
    for (const auto& [name, version] : packages) {
        std::map<std::string, std::vector<const VersionPair*>> rows;  // by what the machine provides
        for (const auto& pair : input.site.version_pairs) {
            if (is_of_machine(pair.use) && pair.package == name && there.count(pair.with) != 0 &&
                is_of_wheel(input, pair.with))
                rows[pair.with].push_back(&pair);
        }
        for (const auto& [with, all] : rows) {
            const Version& package_version = version;
            if (std::any_of(all.begin(), all.end(),
                            [&](const VersionPair* pair) { return covers(*pair, package_version); }))
                continue;
            return UnknownPair{"no row for " + name + " " + version.public_text() + " with " + with + " " +
                                   there.at(with).text(),
                               nearest_row(all, version).text()};
        }
    }
    if (const auto untested = first_broken(input, packages, there, PairUse::tested))
        return untested_pair(*untested, untested->with + " " + there.at(untested->with).text());
    const std::vector<std::string> gpus = fit_gpus(input).fitting;
    for (const auto& pair : pairs_for(input.site.version_pairs, compiled_with(input), {PairUse::tested})) {
        if (pair.with != with_gpu || !compiles_for_gpus(input) || is_switched_off(pair, input)) continue;
        const auto other = std::find_if(gpus.begin(), gpus.end(),
                                        [&pair](const std::string& gpu) { return !pair.allows_gpu(gpu); });
        if (other != gpus.end()) return untested_pair(pair, *other);
    }
    return std::nullopt;
}

std::optional<std::string> find_misfit(const PairInput& input) {
    auto packages = packages_of(input);
    auto there = all_there(input, packages);
    // An upstream's wheel is not compiled here.
    if (auto toolkit = toolkit_of(input, there); toolkit && input.recipe.source != SourceKind::upstream)
        packages.push_back(std::move(*toolkit));
    const std::string_view host = host_compiler(input);
    std::erase_if(there, [host](const auto& one) {
        return (one.first == "gcc" || one.first == "clang") && one.first != host;
    });
    if (const auto broken = first_broken(input, packages, there, PairUse::machine)) {
        const Version& found = there.at(broken->with);
        return "the site has " + broken->with + " " + found.text() + ", it needs " + broken->text() +
               newest_that_takes(input.site.version_pairs, *broken, broken->with + " " + found.text(),
                                 [&found](const VersionPair& pair) {
                                     return pair.allowed_set.contains(found, wheel::Prereleases::allowed);
                                 });
    }
    GpuFit gpus = fit_gpus(input);
    if (gpus.fitting.empty() && !gpus.refusals.empty()) return std::move(gpus.refusals);
    return std::nullopt;
}

GpuFit fit_gpus(const PairInput& input) {
    GpuFit fit;
    const Accelerator* accelerator = input.site.accelerator(input.accelerator);
    if (accelerator == nullptr) return fit;
    fit.fitting = accelerator->architectures;
    if (!compiles_for_gpus(input)) return fit;
    const auto packages = compiled_with(input);
    // The package's own rows come first: no other toolkit would help.
    std::vector<VersionPair> rows;
    const auto add = [&](const PackageVersion& package, std::string_view with) {
        for (auto& row : pairs_for(input.site.version_pairs, {package}, {PairUse::machine}))
            if (row.with == with) rows.push_back(std::move(row));
    };
    add(packages.front(), with_gpu);
    const auto is_off = [&input](const VersionPair& row) { return is_switched_off(row, input); };
    if (std::any_of(rows.begin(), rows.end(), is_off)) return fit;  // no toolkit compiles for a GPU either
    const auto against = exact_version(input.against);
    if (against && rows.empty()) add(*against, with_extension_gpu);
    for (std::size_t at = 1; at < packages.size(); ++at)
        add(packages[at], with_gpu);
    std::erase_if(fit.fitting, [&](const std::string& gpu) {
        const auto refuses = [&gpu](const VersionPair& row) { return !row.allows_gpu(gpu); };
        const auto broken = std::find_if(rows.begin(), rows.end(), refuses);
        if (broken == rows.end()) return false;
        // Another version of this one helps only if no other row refuses the GPU, too.
        const bool is_alone = std::find_if(std::next(broken), rows.end(), refuses) == rows.end();
        fit.refusals += (fit.refusals.empty() ? "" : "; ") + std::string("it cannot be compiled for ") + gpu +
                        ", by the row " + broken->text();
        if (is_alone)
            fit.refusals += newest_that_takes(input.site.version_pairs, *broken, gpu, std::not_fn(refuses));
        return true;
    });
    return fit;
}

Site for_gpus(Site site, const Recipe& recipe, const Asked& asked) {
    const auto version = Version::parse(asked.version);
    const Python none;  // it plays no part
    for (Accelerator& one : site.accelerators) {
        if (!version || one.name != asked.accelerator) continue;
        auto fitting = fit_gpus({site, recipe, *version, none, one.name, asked.against}).fitting;
        if (!fitting.empty()) one.architectures = std::move(fitting);
    }
    return site;
}

std::optional<std::string> find_unnamed(const PairInput& input, const std::set<std::string>& programs) {
    const Environment variables = variables_of(input);
    const std::vector<std::string> modules =
        modules_of(input.site, nullptr, input.site.accelerator(input.accelerator));
    for (const auto& need : input.recipe.needs) {
        const auto& name = need.first;  // clang 14 captures no structured binding
        const auto& of_it = need.second;
        const bool has_module = std::any_of(modules.begin(), modules.end(), [&](const std::string& module) {
            return base::ascii_lower(module.substr(0, module.find('/'))).find(name) != std::string::npos;
        });
        const bool has_variable = std::any_of(variables.begin(), variables.end(), [&](const auto& one) {
            return std::find(of_it.begin(), of_it.end(), one.first) != of_it.end();
        });
        const bool has_version =
            std::any_of(input.site.provided_versions.begin(), input.site.provided_versions.end(),
                        [&](const auto& one) { return wheel::normalize_name(one.first) == name; });
        const bool has_program = std::any_of(
            of_it.begin(), of_it.end(), [&](const std::string& one) { return programs.count(one) != 0; });
        if (has_module || has_variable || has_version || has_program) continue;
        std::vector<std::string> variables_of_it;
        std::string on_path;
        for (const auto& one : of_it) {
            if (is_needed_program(one))
                on_path = ", or have " + one + " on PATH";
            else
                variables_of_it.push_back(one);
        }
        return "it is built against the site's " + name + ", and site.toml names none: name its module in " +
               "`load` of [modules], or set " + base::join(variables_of_it, " or ") + " in [environment]" +
               on_path + "; where a login has it already, say its version in [versions]";
    }
    return std::nullopt;
}

std::vector<std::string> cite_bounds(const PairInput& input) {
    std::vector<PackageVersion> packages = {{input.recipe.package, input.version}};
    if (const auto against = exact_version(input.against)) packages.push_back(*against);
    std::vector<std::string> cited;
    const auto there = provided(input);
    const auto is_had = [&](const std::string& with) {
        const std::string_view kind = kind_of(input);
        return there.count(with) != 0 || with == kind ||
               ((with == with_gpu || with == with_extension_gpu) && passes_gpus_on(input));
    };
    for (const auto& pair : pairs_for(input.site.version_pairs, packages,
                                      {PairUse::build, PairUse::run, PairUse::tested, PairUse::machine})) {
        if (pair.with == with_extension_gpu && pair.package == input.recipe.package) continue;
        if (is_of_machine(pair.use) && (!is_had(pair.with) || is_switched_off(pair, input))) continue;
        cited.push_back(pair.bound() + " by " + pair.place);
    }
    return cited;
}

std::vector<std::string> cite_limits(const PairInput& input) {
    std::vector<std::string> cited;
    const std::string machine = wheel::normalize_name(input.python.environment.machine);  // as rows have it
    for (const auto& pair :
         pairs_for(input.site.version_pairs, {{input.recipe.package, input.version}}, {PairUse::limit})) {
        const bool holds = pair.with == limit_anywhere || pair.with == machine ||
                           (pair.with == limit_compiled && input.recipe.source != SourceKind::upstream);
        if (holds) cited.push_back(pair.why + " (" + pair.source + ")");
    }
    return cited;
}

}  // namespace wheelyard::builder
