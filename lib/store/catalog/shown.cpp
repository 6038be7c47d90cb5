// The projects that an index shows by the rules of inheritance.hpp, and the change of these rules.
#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/inheritance.hpp"

namespace wheelyard::catalog {

base::Result<Inheritance> Catalog::inheritance(Readers readers) const {
    return index_rules().map(
        [readers](std::vector<IndexRule> rules) { return Inheritance(std::move(rules), readers); });
}

base::Result<std::optional<std::string>> Catalog::source_of(const Inheritance& inheritance,
                                                            const std::string& index,
                                                            std::string_view project) const {
    for (std::string& from : inheritance.order(index)) {
        WHEELYARD_ASSIGN(const bool has, has_project(from, project));
        if (has) return std::move(from);
        if (inheritance.owns(from, project)) return std::nullopt;
    }
    return std::nullopt;
}

base::Result<std::vector<std::string>> Catalog::shown_projects(const Inheritance& inheritance,
                                                               const std::string& index) const {
    if (!inheritance.inherits(index)) return projects(index);
    std::vector<std::string> shown;
    std::set<std::string> owned;  // by earlier indexes of the order
    for (const std::string& from : inheritance.order(index)) {
        WHEELYARD_ASSIGN(const auto names, projects(from));
        std::vector<std::string> more;
        std::copy_if(names.begin(), names.end(), std::back_inserter(more),
                     [&](const std::string& name) { return !owned.contains(name); });
        std::vector<std::string> both;
        std::set_union(shown.begin(), shown.end(), more.begin(), more.end(), std::back_inserter(both));
        shown = std::move(both);
        const auto rule = inheritance.rules().find(from);
        if (rule != inheritance.rules().end())
            owned.insert(rule->second.owns.begin(), rule->second.owns.end());
    }
    return shown;
}

base::Result<std::vector<std::string>> Catalog::shown_indexes(const Inheritance& inheritance) const {
    WHEELYARD_ASSIGN(const auto own, indexes());
    std::set<std::string> all(own.begin(), own.end());
    for (const auto& [index, rule] : inheritance.rules()) {
        if (inheritance.inherits(index)) all.insert(index);
    }
    std::erase_if(all, [&](const std::string& index) { return !inheritance.is_in(index); });
    return std::vector<std::string>(all.begin(), all.end());
}

base::Status Catalog::change_rule(const IndexRule& rule, const Cause& cause) {
    WHEELYARD_TRY(write_rule(rule));
    Event about;
    about.index = rule.index;
    about.details_json = render_index_rule(rule);
    return record(EventKind::index_changed, std::move(about), cause).map([](Serial) {});
}

base::Status Catalog::set_index_rules(const std::vector<IndexRule>& rules, const Cause& cause,
                                      const std::map<std::string, std::string>& reasons,
                                      const std::string& list) {
    // What is there already is not written: a start on a full disk commits nothing.
    return in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_ASSIGN(const Inheritance before, inheritance());
        auto old_rules = before.rules();
        bool is_changed = false;
        // A reason alone is an event, too.
        const auto change_if = [&](bool is_other, const IndexRule& rule) -> base::Status {
            const auto reason = reasons.find(rule.index);
            if (!is_other && reason == reasons.end()) return {};
            Cause of_index = cause;
            if (reason != reasons.end()) of_index.reason = reason->second;
            is_changed = true;
            return change_rule(rule, of_index);
        };
        for (const IndexRule& rule : rules) {
            const auto old = old_rules.extract(rule.index);
            WHEELYARD_TRY(change_if(old.empty() ? !is_default(rule) : rule != old.mapped(), rule));
        }
        // An index that leaves the configuration stays private: its files are still in the catalog. So are
        // those that a private index's upstream supplied before it was removed, in "INDEX.UPSTREAM".
        WHEELYARD_ASSIGN(const std::vector<std::string> names, indexes());
        for (const std::string& name : names)
            old_rules.try_emplace(name, IndexRule{.index = name});
        for (const auto& [name, reason] : reasons)  // nodes follow the event, also of one without a file
            old_rules.try_emplace(name, IndexRule{.index = name});
        for (const IndexRule& rule : rules)
            old_rules.erase(rule.index);
        const auto is_owned_by_private = [&rules](const std::string& index) {
            const std::string owner = index.substr(0, index.find('.'));
            return std::any_of(rules.begin(), rules.end(),
                               [&](const IndexRule& rule) { return rule.is_private && rule.index == owner; });
        };
        for (const auto& [index, rule] : old_rules) {
            const bool stays_private = before.is_private(index) || is_owned_by_private(index);
            const IndexRule left{.index = index, .is_private = stays_private};
            WHEELYARD_TRY(change_if(rule != left, left));
        }
        WHEELYARD_ASSIGN(const std::string known, index_list());
        if (list.empty() || list == known) return is_changed;
        WHEELYARD_TRY(write_index_list(list));
        return true;
    });
}

}  // namespace wheelyard::catalog
