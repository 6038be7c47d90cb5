// The rules by which an index shows projects of other indexes. Pure values; shown.cpp applies them to the
// catalog.
//
// The order of an index is: itself, then each index that it inherits from, each followed by those that it
// inherits from in turn; then the caches of all their upstreams. So every index of the registry comes before
// every upstream. The first index in this order that has the project *or owns its name* supplies all files;
// files of two indexes are never merged. An owned name is never inherited, even while the index has no file
// of it: an upload of that name to another index cannot replace it (dependency confusion).
//
// An index is public or private (docs/explanation/decisions/0015). Private indexes, and the caches of their
// upstreams, lie in a tree of their own: what a program renders for everyone contains none of them, and no
// public index has one in its order.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::catalog {

// Whose indexes a tree holds.
enum class Readers {
    everyone,    // the public indexes
    with_token,  // the private indexes
    any,         // both; for programs that publish nothing
};

struct IndexRule {
    std::string index;
    std::vector<std::string> inherits = {};   // in order
    std::set<std::string> owns = {};          // normalised names of projects
    std::vector<std::string> upstreams = {};  // indexes that hold what was fetched for this one, in order
    bool is_private = false;                  // only tokens with the action `read` may read it
    bool operator==(const IndexRule&) const = default;
};

class Inheritance {
  public:
    Inheritance() = default;
    // Each index of a cycle is visited once; configurations with a cycle are refused
    // (config/index_rules.hpp). `readers` limits is_in() and shown_by().
    explicit Inheritance(std::vector<IndexRule> rules, Readers readers = Readers::everyone);

    [[nodiscard]] const std::map<std::string, IndexRule, std::less<>>& rules() const { return rules_; }
    // `index` first.
    [[nodiscard]] std::vector<std::string> order(const std::string& index) const;
    // The indexes of these readers that have `index` in their order, possibly itself; sorted.
    [[nodiscard]] std::vector<std::string> shown_by(const std::string& index) const;
    // Says whether `index` can show projects of another index, also of the cache of an upstream.
    [[nodiscard]] bool inherits(std::string_view index) const;
    [[nodiscard]] bool has_upstream(const std::string& index) const;  // itself, or one that it inherits from
    [[nodiscard]] bool owns(std::string_view index, std::string_view project) const;
    // Also of the caches of a private index's upstreams. An index without a rule is public.
    [[nodiscard]] bool is_private(std::string_view index) const { return private_.contains(index); }
    [[nodiscard]] bool is_in(std::string_view index) const;  // in the tree of these readers
    [[nodiscard]] bool has_private() const { return !private_.empty(); }

  private:
    Readers readers_ = Readers::everyone;
    std::set<std::string, std::less<>> private_;
    std::map<std::string, IndexRule, std::less<>> rules_;
    std::map<std::string, std::vector<std::string>, std::less<>> orders_;  // of the indexes in rules_
};

// An IndexRule as the JSON document that the catalog keeps and that events carry.

[[nodiscard]] std::string render_index_rule(const IndexRule& rule);
[[nodiscard]] base::Result<IndexRule> parse_index_rule(std::string index, std::string_view json);
// A rule that says nothing.
[[nodiscard]] inline bool is_default(const IndexRule& rule) {
    return rule == IndexRule{.index = rule.index};
}

}  // namespace wheelyard::catalog
