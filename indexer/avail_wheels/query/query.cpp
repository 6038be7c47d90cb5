// Filters and orders wheels.
#include "indexer/avail_wheels/query/query.hpp"

#include <algorithm>
#include <utility>

#include "indexer/avail_wheels/query/filter.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/marker.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

bool is_prerelease_asked_for(const Query& query, const std::string& project) {
    if (query.prereleases) return true;
    return std::any_of(query.wanted.begin(), query.wanted.end(), [&](const Wanted& wanted) {
        const auto& specifiers = wanted.specifiers.specifiers();
        return wanted.matches(project) &&
               std::any_of(specifiers.begin(), specifiers.end(),
                           [](const auto& specifier) { return specifier.mentions_prerelease(); });
    });
}

// `first` to `last` are one project's wheels, newest first. Returns the end of those of its newest eligible
// version.
std::vector<Candidate>::iterator keep_newest(const Query& query, std::vector<Candidate>::iterator first,
                                             std::vector<Candidate>::iterator last) {
    if (!is_prerelease_asked_for(query, first->release->project)) {
        const auto is_final = [](const Candidate& candidate) {
            return !candidate.release->version.is_prerelease();
        };
        if (std::any_of(first, last, is_final)) last = std::stable_partition(first, last, is_final);
    }
    const Release& newest = *first->release;
    return std::find_if(first, last, [&](const Candidate& candidate) {
        return candidate.release.get() != &newest &&
               candidate.release->version.compare_public(newest.version) != 0;
    });
}

// Compares wheels of one project.
bool comes_before(const Candidate& a, const Candidate& b) {
    if (a.release != b.release) {
        if (const auto order = a.release->version <=> b.release->version; order != 0) return order > 0;
    }
    if (a.arch != b.arch) return a.arch > b.arch;
    const auto order = compare_naturally(a.tags->python, b.tags->python);
    if (order != 0) return order > 0;
    const auto of_build = compare_naturally(a.release->build, b.release->build);  // as pip prefers them
    return of_build != 0 ? of_build > 0 : a.link.filename < b.link.filename;
}

std::vector<std::string> names_without_wheels(const Query& query, const std::vector<Candidate>& listed) {
    std::vector<std::string> names;
    for (const auto& wanted : query.wanted) {
        const bool is_there = std::any_of(listed.begin(), listed.end(), [&](const Candidate& candidate) {
            return wanted.matches(candidate.release->project);
        });
        if (!is_there && wanted.pattern != "*") names.push_back(wanted.name);
    }
    std::sort(names.begin(), names.end(),
              [](const auto& a, const auto& b) { return name_key(a) < name_key(b); });
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

}  // namespace

Answer select(const Query& query, std::vector<Candidate> offered) {
    Filter filter(query);
    std::erase_if(offered, [&](const Candidate& candidate) { return !filter.lists(candidate); });
    return choose(query, std::move(offered));
}

Answer choose(const Query& query, std::vector<Candidate> listed) {
    // A wheel list is sorted by project already, and candidates are expensive to move.
    const auto project_before = [](const Candidate& a, const Candidate& b) {
        return a.release->key < b.release->key;
    };
    if (!std::is_sorted(listed.begin(), listed.end(), project_before))
        std::stable_sort(listed.begin(), listed.end(), project_before);

    // Hidden wheels are removed in place: a second list would cost as much as reading the first.
    auto end_of_shown = listed.begin();
    for (auto first = listed.begin(); first != listed.end();) {
        const auto last = std::find_if(first, listed.end(), [&](const Candidate& candidate) {
            return is_other_project(candidate, *first);
        });
        if (!std::is_sorted(first, last, comes_before)) std::sort(first, last, comes_before);
        const auto shown = query.all_versions ? last : keep_newest(query, first, last);
        end_of_shown = end_of_shown == first ? shown : std::move(first, shown, end_of_shown);
        first = last;
    }
    listed.erase(end_of_shown, listed.end());
    Answer answer;
    answer.wheels = std::move(listed);
    answer.not_available = names_without_wheels(query, answer.wheels);
    return answer;
}

// If only "3.11" is known, any of its patch releases may match.
bool allows_python(const wheel::SpecifierSet& requires_python, const Python& python) {
    const std::string series = "3." + std::to_string(python.minor);
    const std::vector<std::string> possible = python.full.empty()
                                                  ? std::vector<std::string>{series + ".0", series + ".9999"}
                                                  : std::vector<std::string>{python.full};
    return std::any_of(possible.begin(), possible.end(), [&](const std::string& text) {
        const auto version = wheel::Version::parse(text);
        return version && requires_python.contains(*version, wheel::Prereleases::allowed);
    });
}

bool marker_holds(const wheel::Marker& marker, const Python& python, const std::string& machine,
                  const wheel::MarkerEnvironment& others) {
    auto environment = wheel::linux_markers(
        python.full.empty() ? "3." + std::to_string(python.minor) : python.full, machine);
    environment.insert(others.begin(), others.end());
    if (python.pypy) {
        environment["implementation_name"] = "pypy";
        environment["platform_python_implementation"] = "PyPy";
    }
    return marker.evaluate(environment);
}

// Of Python 3, both implementations, with versions that there will be.
static const std::vector<Python>& every_python() {
    constexpr int versions = 30;
    static const std::vector<Python> all = [] {
        std::vector<Python> made(2 * std::size_t{versions});
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i].minor = static_cast<int>(i / 2);
            made[i].pypy = i % 2 != 0;
        }
        return made;
    }();
    return all;
}

bool applies(const Wanted& wanted, const std::vector<Python>& of_query, const std::string& machine) {
    if (!wanted.marker) return true;
    const std::vector<Python>& pythons = of_query.empty() ? every_python() : of_query;
    std::vector<std::string> machines{machine};  // "" is one that no wheel is for
    if (machine.empty())
        machines.insert(machines.end(), wheel::linux_machines.begin(), wheel::linux_machines.end());
    return std::any_of(pythons.begin(), pythons.end(), [&](const Python& python) {
        return std::any_of(machines.begin(), machines.end(), [&](const std::string& candidate) {
            return marker_holds(*wanted.marker, python, candidate,
                                {{"extras", wanted.extras}, {"dependency_groups", wanted.dependency_groups}});
        });
    });
}

std::vector<Wanted> applicable(std::vector<Wanted> wanted, const std::vector<Python>& pythons,
                               const std::string& machine) {
    std::erase_if(wanted, [&](const Wanted& one) { return !applies(one, pythons, machine); });
    return wanted;
}

std::string name_key(std::string_view name) {
    return wheel::escape_name(name);
}

std::strong_ordering compare_naturally(std::string_view a, std::string_view b) {
    const auto take_digits = [](std::string_view& text) {
        std::size_t length = 0;
        while (length < text.size() && base::is_ascii_digit(text[length]))
            ++length;
        std::string_view digits = text.substr(0, length);
        text.remove_prefix(length);
        digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
        return digits;
    };
    while (!a.empty() && !b.empty()) {
        if (base::is_ascii_digit(a.front()) && base::is_ascii_digit(b.front())) {
            const auto digits_a = take_digits(a);
            const auto digits_b = take_digits(b);
            if (digits_a.size() != digits_b.size()) return digits_a.size() <=> digits_b.size();
            if (const auto order = digits_a <=> digits_b; order != 0) return order;
            continue;
        }
        if (a.front() != b.front())
            return static_cast<unsigned char>(a.front()) <=> static_cast<unsigned char>(b.front());
        a.remove_prefix(1);
        b.remove_prefix(1);
    }
    return a.size() <=> b.size();
}

}  // namespace wheelyard::avail_wheels
