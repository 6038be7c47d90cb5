// Whether a query lists a wheel: by its name, version, tags, Requires-Python and yanking. What was found out
// of one set of tags or one Requires-Python is remembered, for there are few of them in any index.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/query/query.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::avail_wheels {

class Filter {
  public:
    explicit Filter(const Query& query);

    [[nodiscard]] bool lists(const Candidate& candidate);
    // False: no wheel with these tags is listed.
    [[nodiscard]] bool may_list(const TagSet& tags);

  private:
    struct Suits {
        bool shown = false;                // some platform of it is
        std::vector<std::size_t> pythons;  // of the query, that take it on a platform that is shown
    };
    const Suits& suits_of(const TagSet& tags);
    bool suits_pythons(const Candidate& candidate);
    [[nodiscard]] bool suits_archs(const Candidate& candidate) const;
    [[nodiscard]] bool is_wanted(const Candidate& candidate) const;

    const Query& query_;
    TextMap<Suits> suits_;  // by the text of the tags
    TextMap<std::optional<wheel::SpecifierSet>> requires_python_;
};

}  // namespace wheelyard::avail_wheels
