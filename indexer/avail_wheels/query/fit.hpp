// Decides whether a wheel runs on a node, and if not, names one missing thing. Pure.
//
// The checks run in the order of `checks` in judge() and the first "no" wins. Unknown properties of the node
// or the wheel never give a "no".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/node/site.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"

namespace wheelyard::avail_wheels {

enum class Runs { yes, no, unknown };
[[nodiscard]] std::string_view runs_text(Runs runs);  // "yes", "no", "unknown"

// Of a "yes": the index has no wheel of what it requires, or of what this requires, and offers nothing else.
inline constexpr std::string_view missing_code = "missing";

struct Fit {
    Runs runs = Runs::yes;
    std::string code;    // of the failed or undecided check: "python", "glibc", "gpu", …
    std::string why;     // "needs glibc 2.38, here is 2.36"
    std::string advice;  // "load a module: openmpi/4.1.6"
    bool operator==(const Fit&) const = default;
};

// The wheels that a project has, if the source of the candidate owns it, so that installers find no others;
// nullptr: it does not, or that is unknown. Empty: the source has none, and nothing else either.
using OwnedWheels = std::function<const std::vector<Candidate>*(const std::string& project)>;

// The versions that a lock has for the node, by project. Installers take these and do not ask what a package
// requires (PEP 751), so one that does not satisfy it is "unknown": the author of the lock may have
// overridden the requirement.
using LockedVersions = std::map<std::string, std::vector<wheel::Version>, std::less<>>;

// A wheel that an installer takes for a requirement, and the extras that this names: "socks" of
// requests[socks].
using Taken = std::pair<const Candidate*, std::vector<std::string>>;

// What is known of such a wheel, itself judged with all that it requires.
using RequiredFit = std::function<Fit(const Taken& taken)>;

// What an installer takes of the source for a requirement, "torch>=2.4": the same for all that require it.
using TakenBy = TextMap<std::vector<const Candidate*>>;

// What an installer takes for what a wheel requires, the projects that it asks for, and the libraries that
// others can load from the wheel itself.
struct Brought {
    std::vector<Taken> wheels = {};
    std::vector<std::string> projects = {};
    std::vector<std::string> libraries = {};
};
using BroughtBy = std::map<Taken, Brought>;

// How an installer takes what a wheel requires.
struct Installing {
    OwnedWheels owned = {};
    OwnedWheels has = {};    // of an index without upstreams all, also those that it does not own
    bool of_folder = false;  // the source is a folder of wheels, whose install line takes nothing else
    const LockedVersions* locked = nullptr;  // decides about requirements alone: `owned` is not asked
    TakenBy* known = nullptr;                // of this node; filled, where it is given
    BroughtBy* brought = nullptr;            // the same
    RequiredFit required = {};               // none: that a requirement can be installed is enough
    std::vector<std::string> extras = {};    // asked for with the wheel
    std::vector<std::string> sha256s = {};   // that the requirement allows; empty: any
};

[[nodiscard]] Fit judge(const Candidate& candidate, const Node& node, const Site& site,
                        const Installing& how = {});
// `wheels`: of those that wheels are known of.
[[nodiscard]] Brought brought_by(const Candidate& candidate, const Node& node, const Installing& how);

}  // namespace wheelyard::avail_wheels
