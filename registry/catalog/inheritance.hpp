// Which indexes show which others' projects. Pure values; shown.cpp asks the catalog by them.
//
// An index is looked up depth first: itself, then each parent followed by the parent's own parents. The first one in
// this order that has the project *or owns its name* supplies all its files; files of two indexes are never merged. So
// a name that an index owns stays its own even while it has no file there: a wheel of that name in another index is not
// shown (dependency confusion).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::catalog {

struct IndexRule {
    std::string index;
    std::vector<std::string> inherits = {};  // in order
    std::set<std::string> owns = {};         // normalised names of projects
    bool operator==(const IndexRule&) const = default;
};

class Inheritance {
  public:
    Inheritance() = default;
    // A circle is walked once; configurations with one are refused (registry/index_rules.hpp).
    explicit Inheritance(std::vector<IndexRule> rules);

    [[nodiscard]] const std::map<std::string, IndexRule, std::less<>>& rules() const { return rules_; }
    // `index` first.
    [[nodiscard]] std::vector<std::string> order(const std::string& index) const;
    // Those that have `index` in their order, itself too; sorted.
    [[nodiscard]] std::vector<std::string> shown_by(const std::string& index) const;
    [[nodiscard]] bool inherits(std::string_view index) const;
    [[nodiscard]] bool owns(std::string_view index, std::string_view project) const;

  private:
    std::map<std::string, IndexRule, std::less<>> rules_;
    std::map<std::string, std::vector<std::string>, std::less<>> orders_;  // of those in rules_
};

}  // namespace wheelyard::catalog
