// Each order is computed once, when the rules are read, because every page needs it.
#include "registry/catalog/inheritance.hpp"

#include <algorithm>
#include <utility>

namespace wheelyard::catalog {

namespace {

// Depth first; an index that is reached twice keeps its first place.
void walk(const std::map<std::string, IndexRule, std::less<>>& rules, const std::string& index,
          std::vector<std::string>& order) {
    if (std::find(order.begin(), order.end(), index) != order.end()) return;
    order.push_back(index);
    const auto rule = rules.find(index);
    if (rule == rules.end()) return;
    for (const std::string& parent : rule->second.inherits)
        walk(rules, parent, order);
}

void append_upstreams(const std::map<std::string, IndexRule, std::less<>>& rules,
                      std::vector<std::string>& order) {
    const std::vector<std::string> indexes = order;
    for (const std::string& index : indexes) {
        const auto rule = rules.find(index);
        if (rule != rules.end())
            order.insert(order.end(), rule->second.upstreams.begin(), rule->second.upstreams.end());
    }
}

}  // namespace

Inheritance::Inheritance(std::vector<IndexRule> rules) {
    for (IndexRule& rule : rules) {
        std::string index = rule.index;
        rules_.insert_or_assign(std::move(index), std::move(rule));
    }
    for (const auto& [index, rule] : rules_) {
        std::vector<std::string>& order = orders_[index];
        walk(rules_, index, order);
        append_upstreams(rules_, order);
    }
}

std::vector<std::string> Inheritance::order(const std::string& index) const {
    const auto known = orders_.find(index);
    return known == orders_.end() ? std::vector<std::string>{index} : known->second;
}

std::vector<std::string> Inheritance::shown_by(const std::string& index) const {
    std::vector<std::string> found{index};
    for (const auto& [other, order] : orders_) {
        if (other != index && std::find(order.begin(), order.end(), index) != order.end())
            found.push_back(other);
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool Inheritance::inherits(std::string_view index) const {
    const auto rule = rules_.find(index);
    return rule != rules_.end() && !(rule->second.inherits.empty() && rule->second.upstreams.empty());
}

bool Inheritance::owns(std::string_view index, std::string_view project) const {
    const auto rule = rules_.find(index);
    return rule != rules_.end() && rule->second.owns.contains(std::string(project));
}

}  // namespace wheelyard::catalog
