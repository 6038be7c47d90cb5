// Each order is computed once, when the rules are read, because every page needs it.
#include "lib/store/catalog/inheritance.hpp"

#include <algorithm>
#include <utility>

#include "lib/io/json.hpp"

namespace wheelyard::catalog {

namespace {

// Depth first; an index that is reached twice keeps its first place. Those in `barred` are left out: a
// configuration that would need them is refused (config/index_rules.hpp), and a catalog that has them shows
// nothing of them.
void walk(const std::map<std::string, IndexRule, std::less<>>& rules, const std::string& index,
          const std::set<std::string, std::less<>>& barred, std::vector<std::string>& order) {
    if (barred.contains(index) || std::find(order.begin(), order.end(), index) != order.end()) return;
    order.push_back(index);
    const auto rule = rules.find(index);
    if (rule == rules.end()) return;
    for (const std::string& parent : rule->second.inherits)
        walk(rules, parent, barred, order);
}

void append_upstreams(const std::map<std::string, IndexRule, std::less<>>& rules,
                      const std::set<std::string, std::less<>>& barred, std::vector<std::string>& order) {
    const std::vector<std::string> indexes = order;
    for (const std::string& index : indexes) {
        const auto rule = rules.find(index);
        if (rule == rules.end()) continue;
        for (const std::string& cache : rule->second.upstreams) {
            if (!barred.contains(cache)) order.push_back(cache);
        }
    }
}

}  // namespace

Inheritance::Inheritance(std::vector<IndexRule> rules, Readers readers) : readers_(readers) {
    for (IndexRule& rule : rules) {
        std::string index = rule.index;
        if (rule.is_private) {
            private_.insert(index);
            private_.insert(rule.upstreams.begin(), rule.upstreams.end());
        }
        rules_.insert_or_assign(std::move(index), std::move(rule));
    }
    const std::set<std::string, std::less<>> nothing;
    for (const auto& [index, rule] : rules_) {
        std::vector<std::string>& order = orders_[index];
        const auto& barred = is_private(index) ? nothing : private_;
        walk(rules_, index, barred, order);
        append_upstreams(rules_, barred, order);
    }
}

std::vector<std::string> Inheritance::order(const std::string& index) const {
    const auto known = orders_.find(index);
    return known == orders_.end() ? std::vector<std::string>{index} : known->second;
}

std::vector<std::string> Inheritance::shown_by(const std::string& index) const {
    std::vector<std::string> found;
    if (is_in(index)) found.push_back(index);
    for (const auto& [other, order] : orders_) {
        if (other != index && is_in(other) && std::find(order.begin(), order.end(), index) != order.end())
            found.push_back(other);
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool Inheritance::is_in(std::string_view index) const {
    return readers_ == Readers::any || is_private(index) == (readers_ == Readers::with_token);
}

bool Inheritance::inherits(std::string_view index) const {
    const auto rule = rules_.find(index);
    return rule != rules_.end() && !(rule->second.inherits.empty() && rule->second.upstreams.empty());
}

bool Inheritance::has_upstream(const std::string& index) const {
    const auto indexes = order(index);
    return std::any_of(indexes.begin(), indexes.end(), [this](const std::string& one) {
        const auto rule = rules_.find(one);
        return rule != rules_.end() && !rule->second.upstreams.empty();
    });
}

bool Inheritance::owns(std::string_view index, std::string_view project) const {
    const auto rule = rules_.find(index);
    return rule != rules_.end() && rule->second.owns.contains(std::string(project));
}

namespace {

constexpr std::string_view rule_format = "wheelyard.index-rule/1";
constexpr std::string_view read_by_token = "token";

}  // namespace

std::string render_index_rule(const IndexRule& rule) {
    io::Json json = io::Json::object({{"format", rule_format},
                                      {"inherits", io::Json::array_of(rule.inherits)},
                                      {"owns", io::Json::array_of(rule.owns)}});
    if (!rule.upstreams.empty()) json.set("upstreams", io::Json::array_of(rule.upstreams));
    if (rule.is_private) json.set("read", read_by_token);
    return json.render();
}

base::Result<IndexRule> parse_index_rule(std::string index, std::string_view json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json));
    IndexRule rule{.index = std::move(index), .inherits = document.texts("inherits")};
    for (auto& name : document.texts("owns"))
        rule.owns.insert(std::move(name));
    rule.upstreams = document.texts("upstreams");
    rule.is_private = document.string_or("read", "") == read_by_token;
    return rule;
}

}  // namespace wheelyard::catalog
