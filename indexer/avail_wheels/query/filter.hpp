// Decides whether a query lists a wheel: by name, version, tags, Requires-Python and yanking. Results per tag
// set and per Requires-Python are cached, because an index has few distinct ones.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

// Says whether one specifier names an exact version: an installer then takes a yanked file of it (PEP 592).
[[nodiscard]] bool pins_version(const wheel::SpecifierSet& specifiers);

class Filter {
  public:
    explicit Filter(const Query& query);

    [[nodiscard]] bool lists(const Candidate& candidate);
    // False: no wheel with these tags is listed.
    [[nodiscard]] bool may_list(const TagSet& tags);

  private:
    struct Suits {
        bool shown = false;                // at least one of its platforms is shown
        std::vector<std::size_t> pythons;  // indexes into the query's Pythons that accept it
    };
    const Suits& suits_of(const TagSet& tags);
    bool suits_pythons(const Candidate& candidate);
    [[nodiscard]] bool suits_archs(const Candidate& candidate) const;
    [[nodiscard]] bool is_wanted(const Candidate& candidate) const;

    const Query& query_;
    TextMap<Suits> suits_;  // by TagSet::text
    TextMap<std::optional<wheel::SpecifierSet>> requires_python_;
};

// The tags that pip supports in an environment, computed once.

struct PipTags {
    std::set<wheel::Tag> tags;
    std::set<std::pair<std::string, std::string>> abis;  // Python and ABI of each tag, for any platform
    std::set<std::string> platforms;                     // with those of PEP 600, without "any"
};

// What pip sees of a Python, on any machine: of a PyPy whose ABI is unknown, one environment for each ABI
// that there is.
[[nodiscard]] std::vector<wheel::Environment> environments_of(const Python& python);

// Cached for the life of the process, because a query has few environments. Not thread-safe.
[[nodiscard]] const PipTags& supported_tags_of(const wheel::Environment& environment);

}  // namespace wheelyard::avail_wheels
