// The rules by which an index shows projects of other indexes. Pure values; shown.cpp applies them to the catalog.
//
// The order of an index is: itself, then each index that it inherits from, each followed by those that it
// inherits from in turn; then the caches of all their upstreams. So every index of the registry comes before every
// upstream. The first index in this order that has the project *or owns its name* supplies all
// files; files of two indexes are never merged. An owned name is never inherited, even while the index has no
// file of it: an upload of that name to another index cannot replace it (dependency confusion).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::catalog {

struct IndexRule {
    std::string index;
    std::vector<std::string> inherits = {};   // in order
    std::set<std::string> owns = {};          // normalised names of projects
    std::vector<std::string> upstreams = {};  // indexes that hold what was fetched for this one, in order
    bool operator==(const IndexRule&) const = default;
};

class Inheritance {
  public:
    Inheritance() = default;
    // Each index of a cycle is visited once; configurations with a cycle are refused (config/index_rules.hpp).
    explicit Inheritance(std::vector<IndexRule> rules);

    [[nodiscard]] const std::map<std::string, IndexRule, std::less<>>& rules() const { return rules_; }
    // `index` first.
    [[nodiscard]] std::vector<std::string> order(const std::string& index) const;
    // The indexes that have `index` in their order, including itself; sorted.
    [[nodiscard]] std::vector<std::string> shown_by(const std::string& index) const;
    // Whether `index` can show projects of another index, also of the cache of an upstream.
    [[nodiscard]] bool inherits(std::string_view index) const;
    [[nodiscard]] bool owns(std::string_view index, std::string_view project) const;

  private:
    std::map<std::string, IndexRule, std::less<>> rules_;
    std::map<std::string, std::vector<std::string>, std::less<>> orders_;  // of the indexes in rules_
};

}  // namespace wheelyard::catalog
