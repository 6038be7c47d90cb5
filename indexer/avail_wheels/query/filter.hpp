// Decides whether a query lists a wheel: by name, version, tags, Requires-Python and yanking. Results per tag
// set and per Requires-Python are cached, because an index has few distinct ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/query/query.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::avail_wheels {

// Whether one specifier names an exact version: an installer then takes a yanked file of it (PEP 592).
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

}  // namespace wheelyard::avail_wheels
