// The conditions of a query, cheapest first.
#include "indexer/avail_wheels/query/filter.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/base/text/text.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

bool is_platform_shown(const std::string& text, const Query& query) {
    if (query.everything) return true;
    const auto platform = wheel::parse_platform(text);
    if (!query.machine.empty() && !platform.machine.empty() && platform.machine != query.machine)
        return false;
    const auto libc = query.musl ? wheel::PlatformKind::musllinux : wheel::PlatformKind::manylinux;
    return platform.kind == wheel::PlatformKind::any || platform.kind == wheel::PlatformKind::linux ||
           platform.kind == libc;
}

bool takes_abi(const Python& python, const wheel::Tag& tag) {
    const auto environments = environments_of(python);
    return std::any_of(environments.begin(), environments.end(), [&](const wheel::Environment& environment) {
        return supported_tags_of(environment).abis.contains({tag.python, tag.abi});
    });
}

}  // namespace

bool pins_version(const wheel::SpecifierSet& specifiers) {
    const auto& all = specifiers.specifiers();
    return std::any_of(all.begin(), all.end(), [](const wheel::Specifier& one) { return one.is_exact(); });
}

Filter::Filter(const Query& query) : query_(query) {}

bool Filter::lists(const Candidate& candidate) {
    return suits_archs(candidate) && suits_pythons(candidate) && is_wanted(candidate) &&
           (!query_.suits || query_.suits(candidate));
}

bool Filter::may_list(const TagSet& tags) {
    const Suits& suits = suits_of(tags);
    return query_.pythons.empty() ? suits.shown : !suits.pythons.empty();
}

const Filter::Suits& Filter::suits_of(const TagSet& tags) {
    const auto [place, is_new] = suits_.try_emplace(tags.text);
    Suits& suits = place->second;
    if (!is_new) return suits;
    for (const auto& tag : tags.tags) {
        if (!is_platform_shown(tag.platform, query_)) continue;
        suits.shown = true;
        for (std::size_t i = 0; i < query_.pythons.size(); ++i) {
            if (takes_abi(query_.pythons[i], tag) &&
                std::find(suits.pythons.begin(), suits.pythons.end(), i) == suits.pythons.end())
                suits.pythons.push_back(i);
        }
    }
    return suits;
}

bool Filter::suits_archs(const Candidate& candidate) const {
    if (query_.archs.empty()) return true;
    const auto archs = base::split(candidate.arch, ',');
    return std::any_of(archs.begin(), archs.end(), [&](std::string_view arch) {
        return std::find(query_.archs.begin(), query_.archs.end(), arch) != query_.archs.end();
    });
}

bool Filter::suits_pythons(const Candidate& candidate) {
    const Suits& suits = suits_of(*candidate.tags);
    if (query_.pythons.empty()) return suits.shown;
    if (suits.pythons.empty()) return false;
    const std::string& text = candidate.link.requires_python;
    if (text.empty()) return true;
    const auto [place, is_new] = requires_python_.try_emplace(text);
    if (is_new) {
        if (auto parsed = wheel::SpecifierSet::parse(text)) place->second = std::move(*parsed);
    }
    // As in pip, an invalid Requires-Python is ignored.
    const auto& needed = place->second;
    return !needed || std::any_of(suits.pythons.begin(), suits.pythons.end(),
                                  [&](std::size_t i) { return allows_python(*needed, query_.pythons[i]); });
}

bool Filter::is_wanted(const Candidate& candidate) const {
    const bool is_hidden = candidate.link.yanked && !query_.everything && !query_.yanked;
    return std::any_of(query_.wanted.begin(), query_.wanted.end(), [&](const Wanted& wanted) {
        if (!wanted.matches(candidate.release->project)) return false;
        // Pre-releases are decided later, against the project's other versions.
        return (!is_hidden || pins_version(wanted.specifiers)) &&
               (wanted.version_glob.empty() ||
                base::matches_glob(wanted.version_glob, candidate.release->public_version)) &&
               (wanted.specifiers.empty() ||
                wanted.specifiers.contains(candidate.release->version, wheel::Prereleases::allowed));
    });
}

std::vector<wheel::Environment> environments_of(const Python& python) {
    constexpr const char* pypy_abis[] = {"pp73", "pp80"};
    wheel::Environment environment;
    environment.python_minor = python.minor;
    environment.free_threaded = python.free_threaded;
    environment.debug = python.debug;
    environment.cpython = !python.pypy;
    if (!python.pypy || !python.pypy_abi.empty()) {
        environment.pypy_abi = python.pypy_abi;
        return {environment};
    }
    std::vector<wheel::Environment> all;
    for (const char* abi : pypy_abis) {
        all.push_back(environment);
        all.back().pypy_abi = abi;
    }
    return all;
}

const PipTags& supported_tags_of(const wheel::Environment& environment) {
    using Key = std::tuple<int, bool, bool, bool, std::string, std::string, int, int, int, int>;
    static std::map<Key, PipTags> made;
    const Key key{environment.python_minor, environment.free_threaded, environment.debug,
                  environment.cpython,      environment.pypy_abi,      environment.machine,
                  environment.glibc_major,  environment.glibc_minor,   environment.musl_major,
                  environment.musl_minor};
    const auto [place, is_new] = made.try_emplace(key);
    if (is_new) {
        for (auto& tag : wheel::supported_tags(environment)) {
            place->second.abis.emplace(tag.python, tag.abi);
            if (tag.platform != "any") place->second.platforms.insert(tag.platform);
            place->second.tags.insert(std::move(tag));
        }
    }
    return place->second;
}

}  // namespace wheelyard::avail_wheels
