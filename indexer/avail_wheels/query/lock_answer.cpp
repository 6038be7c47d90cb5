// Compares a lock with the wheels that are here.
#include "indexer/avail_wheels/query/lock_answer.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::avail_wheels {

namespace {

struct StateWords {
    LockState state;
    std::string_view code;
    std::string_view text;
};
constexpr StateWords state_words[] = {
    {LockState::here, "here", "here"},
    {LockState::other_bytes, "other_bytes", "other bytes"},
    {LockState::does_not_run, "does_not_run", "does not run"},
    {LockState::missing, "missing", "missing"},
    {LockState::not_of_an_index, "not_of_an_index", "not of an index"},
};

const StateWords& words_of(LockState state) {
    return *std::find_if(std::begin(state_words), std::end(state_words),
                         [&](const StateWords& words) { return words.state == state; });
}

std::string_view why_not_of_an_index(simple::LockSource source) {
    switch (source) {
        case simple::LockSource::vcs:
            return "the lock has a revision of a repository";
        case simple::LockSource::directory:
            return "the lock has a folder";
        case simple::LockSource::archive:
            return "the lock has the address of an archive";
        default:
            return {};
    }
}

// By its SHA-256; where the lock or the source has none, by its file name.
bool is_of_lock(const LockedPackage& package, const Candidate& wheel) {
    if (package.sha256s.contains(wheel.link.sha256)) return true;
    const auto named = package.wheels.find(wheel::spelling_key(wheel.link.filename));
    return named != package.wheels.end() && (named->second.empty() || wheel.link.sha256.empty());
}

bool is_version_of(const LockedPackage& package, const Candidate& wheel) {
    return package.version && package.project == wheel.release->project &&
           package.exact.contains(wheel.release->version, wheel::Prereleases::allowed);
}

// The wheel that counts: one that runs, with the lock's bytes; of those that do not run, the one that comes
// closest.
const Candidate* best_of(const LockedPackage& package, const std::vector<Candidate>& judged) {
    const auto rank = [&](const Candidate& wheel) {
        const bool may_run = wheel.runs != "no";
        const int closeness = wheel.why_code == "machine" ? 0 : wheel.why_code == "python" ? 1 : 2;
        return std::tuple(may_run, may_run && is_of_lock(package, wheel), wheel.runs == "yes", closeness);
    };
    const Candidate* best = nullptr;
    for (const Candidate& wheel : judged) {
        if (is_version_of(package, wheel) && (best == nullptr || rank(wheel) > rank(*best))) best = &wheel;
    }
    return best;
}

// "here are 2.0.1, 2.0.0 and 3 more"; empty: no other version is here.
std::string versions_here(const LockedPackage& package, const std::vector<Candidate>& others) {
    std::vector<std::string> versions;
    for (const Candidate& wheel : others) {
        const std::string text = wheel.release->version.text();
        if (package.project == wheel.release->project &&
            std::find(versions.begin(), versions.end(), text) == versions.end())
            versions.push_back(text);
    }
    constexpr std::size_t max_named = 3;
    if (versions.empty()) return {};
    const std::size_t more = versions.size() - std::min(versions.size(), max_named);
    versions.resize(versions.size() - more);
    return (versions.size() == 1 ? "here is " : "here are ") + base::join(versions, ", ") +
           (more == 0 ? "" : " and " + std::to_string(more) + " more");
}

std::string sentence_of_fit(const Candidate& wheel) {
    return wheel.why + (wheel.advice.empty() ? "" : "; " + wheel.advice);
}

// What a build for this node has otherwise. Of the other reasons a build has the same, or the site decides.
bool is_of_the_build(std::string_view code) {
    constexpr std::string_view codes[] = {"machine", "python", "libc", "glibc", "tags"};
    return std::find(std::begin(codes), std::end(codes), code) != std::end(codes);
}

bool allows_one(const wheel::SpecifierSet& requires_python, const std::vector<Python>& pythons) {
    return pythons.empty() || std::any_of(pythons.begin(), pythons.end(), [&](const Python& python) {
               return allows_python(requires_python, python);
           });
}

std::string python_sentence(const wheel::SpecifierSet& requires_python, const std::vector<Python>& pythons) {
    std::vector<std::string> here;
    for (const Python& python : pythons)
        here.push_back(python.display());
    return "Python " + requires_python.text() + ", here is " + base::join(here, ", ");
}

LockedHere compare_package(const LockedPackage& package, const LockTarget& place,
                           const std::vector<Candidate>& judged, const std::vector<Candidate>& others) {
    LockedHere found{.package = &package};
    if (const auto why = why_not_of_an_index(package.source); !why.empty()) {
        found.state = LockState::not_of_an_index;
        found.why = why;
        return found;
    }
    if (!allows_one(package.requires_python, place.pythons)) {
        found.state = LockState::does_not_run;
        found.why = "the lock says " + python_sentence(package.requires_python, place.pythons);
        return found;
    }
    const std::string no_wheel = package.source == simple::LockSource::sdist  ? "the lock has only an sdist"
                                 : package.source == simple::LockSource::none ? "the lock has no file of it"
                                                                              : "";
    found.wheel = best_of(package, judged);
    if (found.wheel == nullptr) {
        std::vector<std::string> reasons{no_wheel, versions_here(package, others)};
        std::erase(reasons, "");
        found.why = reasons.empty() ? "no wheel of it is here" : base::join(reasons, "; ");
        found.may_be_built = package.version.has_value();
        return found;
    }
    const Candidate& wheel = *found.wheel;
    if (wheel.runs == "no") {
        found.state = LockState::does_not_run;
        found.why = sentence_of_fit(wheel);
        found.may_be_built = is_of_the_build(wheel.why_code);
        return found;
    }
    std::vector<std::string> reasons;
    if (is_of_lock(package, wheel)) {
        found.state = LockState::here;
        if (!package.sha256s.contains(wheel.link.sha256)) {
            reasons.emplace_back(wheel.link.sha256.empty()
                                     ? "its bytes are not compared: no hash of them is known here"
                                     : "its bytes are not compared: the lock has no SHA-256 of them");
        }
    } else {
        found.state = LockState::other_bytes;
        if (!no_wheel.empty()) reasons.push_back(no_wheel);
        reasons.push_back(
            (needs_of(wheel).is_ours ? "built here: " : "another wheel of this version is here: ") +
            wheel.link.filename);
    }
    if (wheel.runs == "unknown") reasons.push_back("whether it runs is unknown: " + sentence_of_fit(wheel));
    found.why = base::join(reasons, "; ");
    return found;
}

}  // namespace

std::string_view lock_state_code(LockState state) {
    return words_of(state).code;
}

std::string_view lock_state_text(LockState state) {
    return words_of(state).text;
}

Wanted wanted_of(const LockedPackage& package, const Lock& lock) {
    return {.name = package.name,
            .pattern = package.project,
            .specifiers = package.exact,
            .marker = package.marker,
            .extras = lock.chosen_extras,
            .dependency_groups = lock.chosen_groups};
}

std::vector<const LockedPackage*> packages_for(const Lock& lock, const LockTarget& place) {
    std::vector<const LockedPackage*> packages;
    for (const LockedPackage& package : lock.packages) {
        if (applies(wanted_of(package, lock), place.pythons, place.machine)) packages.push_back(&package);
    }
    return packages;
}

bool is_locked(const Candidate& wheel, const std::vector<const LockedPackage*>& packages) {
    return std::any_of(packages.begin(), packages.end(),
                       [&](const LockedPackage* package) { return is_version_of(*package, wheel); });
}

LockedVersions locked_versions(const std::vector<const LockedPackage*>& packages) {
    LockedVersions versions;
    for (const LockedPackage* package : packages) {
        if (package->version) versions[package->project].push_back(*package->version);
    }
    return versions;
}

std::vector<LockedHere> compare_lock(const std::vector<const LockedPackage*>& packages,
                                     const LockTarget& place, const std::vector<Candidate>& judged,
                                     const std::vector<Candidate>& others) {
    std::vector<LockedHere> found;
    for (const LockedPackage* package : packages)
        found.push_back(compare_package(*package, place, judged, others));
    return found;
}

std::vector<std::string> refusals_of_lock(const Lock& lock, const std::vector<const LockedPackage*>& packages,
                                          const LockTarget& place) {
    std::vector<std::string> refusals;
    if (!allows_one(lock.requires_python, place.pythons))
        refusals.push_back("it is for " + python_sentence(lock.requires_python, place.pythons));
    for (const LockedPackage* package : packages) {
        if (!allows_one(package->requires_python, place.pythons))
            refusals.push_back("its " + package->name + " is for " +
                               python_sentence(package->requires_python, place.pythons));
    }
    const bool has_environment =
        lock.environments.empty() ||
        std::any_of(lock.environments.begin(), lock.environments.end(), [&](const wheel::Marker& marker) {
            Wanted environment;
            environment.marker = marker;
            return applies(environment, place.pythons, place.machine);
        });
    if (!has_environment) {
        std::vector<std::string> environments;
        for (const wheel::Marker& marker : lock.environments)
            environments.push_back(marker.text());
        refusals.push_back("it is for other environments: " + base::join(environments, ", "));
    }
    // With several Pythons, each may have its own.
    if (place.pythons.size() == 1) {
        std::map<std::string, int> entries;
        for (const LockedPackage* package : packages) {
            if (++entries[package->project] == 2)
                refusals.push_back("it has several entries of " + package->name);
        }
    }
    return refusals;
}

std::string summary_of_lock(const std::string& file, const std::vector<LockedHere>& packages,
                            std::size_t left_out) {
    std::vector<std::string> counts;
    for (const StateWords& words : state_words) {
        const auto count = std::count_if(packages.begin(), packages.end(), [&](const LockedHere& package) {
            return package.state == words.state;
        });
        if (count > 0) counts.push_back(std::to_string(count) + " " + std::string(words.text));
    }
    const std::size_t all = packages.size();
    return std::to_string(all) + (all == 1 ? " package of " : " packages of ") + file +
           (all == 1 ? " is" : " are") + " for this node" +
           (counts.empty() ? "" : ": " + base::join(counts, ", ")) +
           (left_out == 0 ? ""
                          : "; " + std::to_string(left_out) + (left_out == 1 ? " is" : " are") +
                                " not, by markers, extras or groups");
}

}  // namespace wheelyard::avail_wheels
