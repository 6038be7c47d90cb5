// What a wheel requires, and the installed torch.
#include <algorithm>
#include <compare>
#include <string_view>

#include "indexer/avail_wheels/query/filter.hpp"
#include "indexer/avail_wheels/query/fit_checks.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::avail_wheels::checks {

const std::vector<Candidate>* wheels_for(const Installing& how, const std::string& project) {
    const auto* owned = how.owned ? how.owned(project) : nullptr;
    return owned != nullptr || !how.has ? owned : how.has(project);
}

namespace {

// Of a wheel that runs but for one that it requires, or that this requires.
constexpr std::string_view required_code = "required";

constexpr int max_older_versions = 8;  // that are tried in place of one that requires what is missing

// What an installer takes of `there`: the wheels of the newest version that satisfies the requirement and has
// one for a Python of the node; of a pre-release only if there is no other, and yanked ones only if it pins a
// version that has no other. `below`: only versions that are older.
std::vector<const Candidate*> taken_of(const Node& node, const wheel::Requirement& requirement,
                                       const std::vector<Candidate>& there,
                                       const wheel::Version* below = nullptr, bool yanked = false) {
    std::vector<const Candidate*> taken;
    for (const Candidate& candidate : there) {
        const wheel::Version& version = candidate.release->version;
        if (candidate.link.yanked != yanked || (below != nullptr && version.compare_public(*below) >= 0) ||
            !requirement.specifiers.contains(version, wheel::Prereleases::allowed))
            continue;
        const auto needed = wheel::SpecifierSet::parse(candidate.link.requires_python);
        if (std::none_of(node.pythons.begin(), node.pythons.end(), [&](const Python& python) {
                return pip_takes(candidate, node, python,
                                 node.glibc || node.musl ? TagPart::all : TagPart::python_and_abi) &&
                       (!needed || allows_python(*needed, python));
            }))
            continue;
        if (!taken.empty()) {
            const wheel::Version& best = taken.front()->release->version;
            const auto order = version.is_prerelease() == best.is_prerelease() ? version.compare_public(best)
                               : best.is_prerelease()                          ? std::strong_ordering::greater
                                                                               : std::strong_ordering::less;
            if (order < 0) continue;
            if (order > 0) taken.clear();
        }
        taken.push_back(&candidate);
    }
    if (taken.empty() && !yanked && pins_version(requirement.specifiers))
        return taken_of(node, requirement, there, below, true);
    return taken;
}

std::vector<const Candidate*> newest_of(const Node& node, const Installing& how,
                                        const wheel::Requirement& requirement,
                                        const std::vector<Candidate>& there) {
    if (how.known == nullptr) return taken_of(node, requirement, there);
    const auto [known, is_new] = how.known->try_emplace(requirement.project + requirement.specifiers.text());
    if (is_new) known->second = taken_of(node, requirement, there);
    return known->second;
}

std::string versions_of(const std::vector<Candidate>& there) {
    constexpr std::size_t max_versions = 4;
    std::vector<std::string> versions;
    for (const auto& candidate : there) {
        const auto text = candidate.release->version.text();
        if (std::find(versions.begin(), versions.end(), text) == versions.end()) versions.push_back(text);
    }
    const bool is_long = versions.size() > max_versions;
    if (is_long) versions.resize(max_versions);
    return base::join(versions, ", ") + (is_long ? " …" : "");
}

// "torch 2.6.0, 2.5.1"; of those that would satisfy the requirement also for whom they are: "tornado 6.6.1
// for aarch64 alone".
std::string what_is_there(const Question& q, const wheel::Requirement& requirement,
                          const std::vector<Candidate>& there) {
    constexpr std::size_t max_shown = 4;
    std::vector<Candidate> suiting;
    std::vector<Candidate> yanked;
    std::vector<std::string> whose;
    for (const auto& candidate : there) {
        if (!requirement.specifiers.contains(candidate.release->version, wheel::Prereleases::allowed))
            continue;
        if (candidate.link.yanked) {
            yanked.push_back(candidate);
            continue;
        }
        const bool suits_machine = candidate.arch == "generic" || candidate.arch == q.node.machine;
        const bool suits_python =
            std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& python) {
                return pip_takes(candidate, q.node, python, TagPart::python_and_abi);
            });
        std::string one = !suits_machine  ? candidate.arch
                          : !suits_python ? candidate.tags->python
                          : candidate.link.requires_python.empty()
                              ? listed(candidate.tags->platforms)
                              : "Python " + candidate.link.requires_python;
        if (std::find(whose.begin(), whose.end(), one) == whose.end() && whose.size() < max_shown)
            whose.push_back(std::move(one));
        suiting.push_back(candidate);
    }
    if (suiting.empty() && !yanked.empty()) return requirement.name + " " + versions_of(yanked) + ", yanked";
    if (suiting.empty()) return requirement.name + " " + versions_of(there);
    return requirement.name + " " + versions_of(suiting) + " for " + base::join(whose, ", ") + " alone";
}

Fit check_locked(const LockedVersions& locked, const wheel::Requirement& requirement,
                 const std::string& text) {
    const auto there = locked.find(requirement.project);
    if (there == locked.end()) return {};
    std::vector<std::string> versions;
    for (const wheel::Version& version : there->second) {
        if (requirement.specifiers.contains(version, wheel::Prereleases::allowed)) return {};
        versions.push_back(version.text());
    }
    return unknown("requires_dist", "requires " + text + ", and the lock has " + requirement.name + " " +
                                        base::join(versions, ", "));
}

// Says whether a Python of the node needs it. An installer keeps of a variant's properties those that its
// node has: where a feature has several values, a marker may hold for one of them only.
bool is_asked(const Question& q, const wheel::Requirement& requirement,
              const std::vector<std::string>& extras) {
    if (!requirement.marker) return true;
    wheel::MarkerEnvironment variant;
    if (q.needs.variant) {
        auto properties = *q.needs.variant;
        std::erase_if(properties,
                      [&](const auto& property) { return !has_property(q.node, property).value_or(true); });
        wheel::set_variant(variant, q.candidate.tags->variant, properties);
    }
    std::vector<wheel::MarkerEnvironment> environments{variant};
    for (const auto& extra : extras) {
        environments.push_back(variant);
        environments.back()["extra"] = extra;
    }
    return std::any_of(q.node.pythons.begin(), q.node.pythons.end(), [&](const Python& python) {
        return std::any_of(environments.begin(), environments.end(), [&](const auto& environment) {
            return marker_holds(*requirement.marker, python, q.node.machine, environment);
        });
    });
}

struct Asked {
    wheel::Requirement requirement;
    std::string text;  // without its marker
};

// What a Python of the node asks for; PyPy has cffi, whose version is its own. A requirement of the wheel's
// own project adds extras: foo[all] requires foo[x,y].
std::vector<Asked> asked_requirements(const Question& q) {
    std::vector<Asked> asked;
    if (!q.needs.requires_dist || q.node.pythons.empty()) return asked;
    std::vector<std::string> extras = q.how.extras;
    for (bool has_more = true; has_more;) {
        has_more = false;
        asked.clear();
        for (const auto& text : *q.needs.requires_dist) {
            auto requirement = wheel::Requirement::parse(text);
            if (!requirement || !requirement->url.empty()) continue;
            if (requirement->project == "cffi" && q.node.pythons.front().pypy) continue;
            if (!is_asked(q, *requirement, extras)) continue;
            if (requirement->project != q.candidate.release->project) {
                asked.push_back({std::move(*requirement), text.substr(0, text.find(';'))});
                continue;
            }
            for (auto& extra : requirement->extras) {
                if (std::find(extras.begin(), extras.end(), extra) != extras.end()) continue;
                extras.push_back(std::move(extra));
                has_more = true;
            }
        }
    }
    return asked;
}

// The import may do without one that does not run, so that is unknown. One that requires what is missing may
// be installed. What is unknown of one is not handed on: of 50 "yes" that this would make unknown 33 import,
// and 2 fail for it (bench/results/avail-everyday.json).
Fit check_taken(const Question& q, const wheel::Requirement& requirement,
                const std::vector<const Candidate*>& taken) {
    Fit first;
    const std::string what =
        requirement.name +
        (requirement.extras.empty() ? "" : "[" + base::join(requirement.extras, ",") + "]");
    for (const Candidate* candidate : taken) {
        Fit fit = q.how.required({candidate, requirement.extras});
        const bool lacks = fit.code == missing_code;
        const bool is_chain = lacks || fit.code == required_code;
        if (fit.runs != Runs::no && !is_chain) return {};
        if (!first.code.empty() && !lacks) continue;
        const std::string but = lacks ? "but " : "";
        first = {lacks ? Runs::yes : Runs::unknown, std::string(lacks ? missing_code : required_code),
                 but + "requires " + what +
                     (is_chain ? ", which "
                               : ", and " + candidate->release->project + " " +
                                     candidate->release->version.text() + " does not run here: ") +
                     fit.why.substr(but.size()),
                 std::move(fit.advice)};
    }
    return first;
}

// As pip does, an older version is taken where the newest requires what is missing and the older one does
// not.
Fit check_newest(const Question& q, const wheel::Requirement& requirement,
                 const std::vector<Candidate>& there, std::vector<const Candidate*> taken) {
    Fit newest = check_taken(q, requirement, taken);
    for (int tried = 0; newest.code == missing_code && tried < max_older_versions; ++tried) {
        taken = taken_of(q.node, requirement, there, &taken.front()->release->version);
        if (taken.empty()) break;
        if (check_taken(q, requirement, taken).code.empty()) return {};
    }
    return newest;
}

}  // namespace

// An installer that asks only this source ends with the same. What is missing may be installed already.
Fit check_requirements(const Question& q) {
    if (is_for_another_python(q) || (!q.how.owned && q.how.locked == nullptr)) return {};
    Fit first;
    std::vector<std::string> missing;
    for (const auto& [requirement, text] : asked_requirements(q)) {
        if (q.how.locked != nullptr) {
            if (Fit fit = check_locked(*q.how.locked, requirement, text); fit.runs != Runs::yes) return fit;
            continue;
        }
        const auto* there = wheels_for(q.how, requirement.project);
        const bool is_torch = requirement.project == "torch";
        // A folder says nothing of what it does not have, but of the torch that decides what runs.
        if (there == nullptr && !(q.how.of_folder && is_torch)) continue;
        const auto taken = there == nullptr ? std::vector<const Candidate*>()
                                            : newest_of(q.node, q.how, requirement, *there);
        if (there == nullptr || there->empty() ||
            (taken.empty() && q.how.owned(requirement.project) == nullptr)) {
            if (!q.node.torch || !is_torch) missing.emplace_back(base::trim(text));
            continue;
        }
        if (taken.empty())
            return no("requires_dist",
                      "requires " + text + ", and here are " + what_is_there(q, requirement, *there),
                      "choose another version of one of the two, or ask for what is missing");
        if (!q.how.required || first.runs != Runs::yes) continue;
        if (Fit fit = check_newest(q, requirement, *there, taken);
            fit.runs != Runs::yes || first.code.empty())
            first = std::move(fit);
    }
    if (first.runs != Runs::yes || missing.empty()) return first;
    return {Runs::yes, std::string(missing_code),
            "but requires " + listed(missing) + ", of which this " + (q.how.of_folder ? "folder" : "index") +
                " has no wheel",
            q.how.of_folder ? "install it before, or put its wheel into the folder"
                            : "ask for it, or name an index that has it, too: --extra-index-url"};
}

bool asks_for(const Question& q, const std::string& project) {
    if (q.node.pythons.empty() || project == q.candidate.release->project) return true;
    const auto asked = asked_requirements(q);
    return std::any_of(asked.begin(), asked.end(),
                       [&](const Asked& one) { return one.requirement.project == project; });
}

// pip warns of an extra that a wheel does not provide, and goes on.
Fit extras_without_requirements(const Question& q) {
    if (!q.needs.requires_dist) return {};
    std::vector<std::string> without;
    for (const std::string& extra : q.how.extras) {
        const std::string quoted = '"' + wheel::normalize_name(extra) + '"';
        const auto names_it = [&](const std::string& text) {
            const auto requirement = wheel::Requirement::parse(text);
            return requirement && requirement->marker &&
                   requirement->marker->text().find(quoted) != std::string::npos;
        };
        if (std::none_of(q.needs.requires_dist->begin(), q.needs.requires_dist->end(), names_it))
            without.push_back(extra);
    }
    if (without.empty()) return {};
    return {Runs::yes, "extra", "but requires nothing for the extra " + listed(without),
            "check how it is spelt"};
}

namespace {

std::string_view major_of(std::string_view version) {
    return version.substr(0, version.find('.'));
}

}  // namespace

// What the wheel needs of torch is what the installed one has; an installer that brings another torch is
// another question.
Fit check_torch(const Question& q) {
    if (!q.node.torch || q.candidate.release->project == "torch") return {};
    const InstalledTorch& torch = *q.node.torch;
    const auto version = wheel::Version::parse(torch.version);
    const std::string here = ", and torch " + torch.version + " is installed in " + torch.folder;
    const std::string advice = "choose the build for this torch; an installer may replace it";
    const auto is_before = [&](const std::string& bound) {
        const auto parsed = wheel::Version::parse(bound);
        return parsed && version && version->without_local() < *parsed;
    };
    if (!q.needs.torch_at_least.empty() && is_before(q.needs.torch_at_least))
        return no("torch", "uses names that torch has since " + q.needs.torch_at_least + here, advice);
    if (!q.needs.torch_below.empty() && version && !is_before(q.needs.torch_below))
        return no("torch", "uses names that torch has no more since " + q.needs.torch_below + here, advice);
    if ((q.needs.torch_cxx11_abi == "true" && torch.cxx11_abi == "false") ||
        (q.needs.torch_cxx11_abi == "false" && torch.cxx11_abi == "true"))
        return no("torch",
                  "is built with _GLIBCXX_USE_CXX11_ABI=" +
                      std::string(torch.cxx11_abi == "true" ? "0" : "1") + here + ", which is not",
                  advice);
    for (const auto& library : q.needs.torch_libraries) {
        if (!torch.libraries.empty() && torch.libraries.count(library) == 0)
            return no("torch", "needs " + library + here + ", which does not have it", advice);
    }
    const bool uses_torch = !q.needs.torch_libraries.empty() || !q.needs.torch_cxx11_abi.empty();
    for (const auto& gpu : q.needs.gpus) {
        const auto theirs = torch.toolkits.find(gpu.kind->name);
        if (uses_torch && theirs != torch.toolkits.end() && !gpu.toolkit.empty() &&
            major_of(gpu.toolkit) != major_of(theirs->second))
            return no("torch",
                      "is built for " + std::string(gpu.kind->title) + " " + gpu.toolkit + here + " with " +
                          theirs->second,
                      advice);
    }
    for (const auto& [requirement, text] : asked_requirements(q)) {
        if (requirement.project != "torch" || !version ||
            requirement.specifiers.contains(*version, wheel::Prereleases::allowed))
            continue;
        return no("torch", "requires " + text + here, advice);
    }
    return {};
}

}  // namespace wheelyard::avail_wheels::checks

namespace wheelyard::avail_wheels {

Brought brought_by(const Candidate& candidate, const Node& node, const Installing& how) {
    const Needs needs = needs_of(candidate);
    const checks::Question question{candidate, needs, node, {}, how};
    Brought brought;
    if (checks::is_for_another_python(question)) return brought;
    if (may_have(candidate, "provides\":")) brought.libraries = provided_by(candidate);
    for (const auto& [requirement, text] : checks::asked_requirements(question)) {
        brought.projects.push_back(requirement.project);
        const auto* there = checks::wheels_for(how, requirement.project);
        if (there == nullptr) continue;
        for (const Candidate* taken : checks::newest_of(node, how, requirement, *there))
            brought.wheels.emplace_back(taken, requirement.extras);
    }
    return brought;
}

}  // namespace wheelyard::avail_wheels
