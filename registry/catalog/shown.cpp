// The projects that an index shows by the rules of inheritance.hpp, and the storage of these rules.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/catalog/catalog_state.hpp"

namespace wheelyard::catalog {
namespace {

constexpr std::string_view rule_format = "wheelyard.index-rule/1";
constexpr std::string_view read_by_token = "token";

io::Json rule_json(const IndexRule& rule) {
    io::Json json = io::Json::object({{"format", rule_format},
                                      {"inherits", io::Json::array_of(rule.inherits)},
                                      {"owns", io::Json::array_of(rule.owns)}});
    if (!rule.upstreams.empty()) json.set("upstreams", io::Json::array_of(rule.upstreams));
    if (rule.is_private) json.set("read", read_by_token);
    return json;
}

base::Result<IndexRule> parse_rule(std::string index, const std::string& json) {
    WHEELYARD_ASSIGN(const io::Json document, io::parse_json(json));
    IndexRule rule{.index = std::move(index), .inherits = document.texts("inherits")};
    for (auto& name : document.texts("owns"))
        rule.owns.insert(std::move(name));
    rule.upstreams = document.texts("upstreams");
    rule.is_private = document.string_or("read", "") == read_by_token;
    return rule;
}

base::Status write_rule(const Database& database, const IndexRule& rule, const Cause& cause) {
    Event about;
    about.index = rule.index;
    about.details_json = rule_json(rule).render();
    if (rule == IndexRule{.index = rule.index}) {
        WHEELYARD_TRY(database.run("DELETE FROM index_rule WHERE index_name = ?", rule.index));
    } else {
        WHEELYARD_TRY(
            database.run("INSERT INTO index_rule (index_name, rule_json) VALUES (?, ?) ON CONFLICT DO UPDATE "
                         "SET rule_json = excluded.rule_json",
                         rule.index, about.details_json));
    }
    return append_event(database, EventKind::index_changed, about, cause).map([](Serial) {});
}

base::Result<std::string> read_list(const Database& database) {
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT json FROM index_list"));
    WHEELYARD_ASSIGN(const bool row, query.step());
    return row ? query.text(0) : std::string();
}

}  // namespace

base::Result<Inheritance> read_inheritance(const Database& database, Readers readers) {
    WHEELYARD_ASSIGN(auto query, database.prepare("SELECT index_name, rule_json FROM index_rule"));
    std::vector<IndexRule> rules;
    while (true) {
        WHEELYARD_ASSIGN(const bool row, query.step());
        if (!row) return Inheritance(std::move(rules), readers);
        WHEELYARD_ASSIGN(auto rule, parse_rule(query.text(0), query.text(1)));
        rules.push_back(std::move(rule));
    }
}

base::Result<std::optional<std::string>> find_source(const Database& database, const Inheritance& inheritance,
                                                     const std::string& index, std::string_view project) {
    for (const std::string& from : inheritance.order(index)) {
        WHEELYARD_ASSIGN(const std::int64_t has,
                         database.integer("SELECT count(*) FROM project WHERE index_name = ? AND name = ?",
                                          from, project));
        if (has > 0) return from;
        if (inheritance.owns(from, project)) return std::nullopt;
    }
    return std::nullopt;
}

base::Status Catalog::set_index_rules(const std::vector<IndexRule>& rules, const Cause& cause,
                                      const std::map<std::string, std::string>& reasons,
                                      const std::string& list) {
    const Database& database = state_->database;
    WHEELYARD_ASSIGN(Transaction transaction, Transaction::begin_immediate(database));
    WHEELYARD_ASSIGN(const Inheritance before, read_inheritance(database));
    auto old_rules = before.rules();
    for (const IndexRule& rule : rules) {
        const auto old = old_rules.extract(rule.index);
        const auto reason = reasons.find(rule.index);
        Cause of_index = cause;
        if (reason != reasons.end()) of_index.reason = reason->second;
        if (reason != reasons.end() || rule != (old.empty() ? IndexRule{.index = rule.index} : old.mapped()))
            WHEELYARD_TRY(write_rule(database, rule, of_index));
    }
    // An index that leaves the configuration stays private: its files are still in the catalog. So are those that a private
    // index's upstream supplied before it was removed, in "INDEX.UPSTREAM".
    WHEELYARD_ASSIGN(const std::vector<std::string> names, indexes());
    for (const std::string& name : names)
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
        if (rule != left) WHEELYARD_TRY(write_rule(database, left, cause));
    }
    if (!list.empty())
        WHEELYARD_TRY(
            database.run("INSERT INTO index_list (only_row, json) VALUES (1, ?) ON CONFLICT DO "
                         "UPDATE SET json = excluded.json",
                         list));
    return transaction.commit();
}

base::Result<std::string> Catalog::index_list() const {
    return read_list(state_->database);
}

base::Result<std::string> Catalog::read_index_list(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) return std::string();
    WHEELYARD_ASSIGN(const Database database, Database::open(file, Database::Mode::read_only));
    WHEELYARD_TRY(database.keep_log());
    constexpr std::int64_t first_with_list = 5;
    WHEELYARD_ASSIGN(const std::int64_t version, database.integer("PRAGMA user_version"));
    if (version < first_with_list) return std::string();
    return read_list(database);
}

base::Result<Inheritance> Catalog::inheritance(Readers readers) const {
    return read_inheritance(state_->database, readers);
}

base::Result<std::optional<std::string>> Catalog::source_of(const Inheritance& inheritance,
                                                            const std::string& index,
                                                            std::string_view project) const {
    return find_source(state_->database, inheritance, index, project);
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

}  // namespace wheelyard::catalog
