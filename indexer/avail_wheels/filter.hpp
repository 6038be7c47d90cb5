// Whether a query lists a wheel: by its name, version, tags, Requires-Python and yanking. What was found out
// of one set of tags or one Requires-Python is remembered, for there are few of them in any index.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "indexer/avail_wheels/query.hpp"
#include "lib/wheel/specifier.hpp"

namespace wheelyard::avail_wheels {

class Filter {
  public:
    explicit Filter(const Query& query);

    [[nodiscard]] bool lists(const Candidate& candidate);
    // False: no wheel with these tags ("cp312-cp312-linux_aarch64", as in its file name) is listed.
    [[nodiscard]] bool may_list_tags(std::string_view tags);

  private:
    struct Suits {
        bool shown = false;                // some platform of it is
        std::vector<std::size_t> pythons;  // of the query, that take it on a platform that is shown
    };
    const Suits& suits_of(std::string_view tags);
    bool suits_pythons(const Candidate& candidate);
    [[nodiscard]] bool suits_archs(const Candidate& candidate) const;
    [[nodiscard]] bool is_wanted(const Candidate& candidate) const;

    const Query& query_;
    std::unordered_map<std::string, Suits> suits_;
    std::unordered_map<std::string, std::optional<wheel::SpecifierSet>> requires_python_;
};

}  // namespace wheelyard::avail_wheels
