// The keys of a TOML table in one table of rows, which reads, checks, shows and documents them.
//
//     const TomlRows<RegistrySettings> rows{
//         key("url", &RegistrySettings::url, {.is_required = true, .check = must(is_web, "an http or https URL")}),
//         key("wait_s", &RegistrySettings::wait_s, {.range = {1, 60}}),
//         word<report_words>("report", &RegistrySettings::report),
//     };
//     rows.read(table, settings);
//
// "work.cache_gib" is the key `cache_gib` of the table `work`, whose members lie in the owner itself; a
// struct of its own is a row made by table(). The default of a key is what a new owner has in its member.
// Rows are read in their order: a condition, and the check of a table, see what the rows before have read.
// Rules of several keys stay code of the reader, which runs after the rows. The page of a configuration says
// what each key means.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/io/toml.hpp"

namespace wheelyard::io {

using TomlPairs = std::vector<std::pair<std::string, std::string>>;

// What is wrong with a text; empty: nothing.
using TextCheck = std::function<std::string(const std::string&)>;
// Refuses the texts for which `is_valid` is false: "expected WHAT, found `TEXT`".
[[nodiscard]] TextCheck must(std::function<bool(const std::string&)> is_valid, std::string_view what);

// What a row says of its key apart from the types of owner and member.
struct TomlFacts {
    std::string type = {};      // in the page; empty: by the member
    std::string fallback = {};  // the default in the page; empty: by the member of a new owner
    struct {
        std::int64_t min = std::numeric_limits<std::int64_t>::min();
        std::int64_t max = std::numeric_limits<std::int64_t>::max();
    } range = {};
    std::int64_t unit = 1;  // of the key, in those of the member: 1000 of `lease_s` in `lease_ms`
    bool is_required = false;
    std::string if_empty = {};  // the problem of a list that is empty or absent
    // Without its table the key is not asked for; with it, the key counts as given, by its default if it is
    // absent.
    bool is_of_table = false;
    bool is_always_read = false;  // a table: also where it is absent
    std::vector<std::string> choices = {};
    TextCheck check = {};       // of the text, or of each text of a list or table
    TextCheck name_check = {};  // of each key of a table of texts
    std::function<std::string(const std::string&)> normal = {};  // of each text
    std::function<std::string(const std::string&)> normal_name = {};
    // In the file that a program writes for a new configuration.
    std::string hint = {};    // the comment
    std::string sample = {};  // the value as TOML has it, or the lines of a table; empty: the default
    bool is_set = false;      // other keys, and lists of tables, are commented out there
    std::string name = {};    // the maker of the row sets it

    [[nodiscard]] std::string_view key() const;  // "cache_gib" of "work.cache_gib"
};

// Each reads the value of facts.key() and returns whether it is given. Problems are the table's.
bool read_value(TomlTable& table, const TomlFacts& facts, std::string& into);
bool read_value(TomlTable& table, const TomlFacts& facts, bool& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::int64_t& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::filesystem::path& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::vector<std::string>& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::set<std::string>& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::vector<std::filesystem::path>& into);
bool read_value(TomlTable& table, const TomlFacts& facts, TomlPairs& into);
bool read_value(TomlTable& table, const TomlFacts& facts, std::map<std::string, std::string>& into);
bool read_value(TomlTable& table, const TomlFacts& facts,
                std::map<std::string, std::vector<std::string>>& into);
template <std::integral T>
requires(!std::is_same_v<T, bool>) bool read_value(TomlTable& table, const TomlFacts& facts, T& into) {
    auto value = static_cast<std::int64_t>(into);
    const bool is_given = read_value(table, facts, value);
    into = static_cast<T>(value);
    return is_given;
}

// A value as TOML has it.
[[nodiscard]] std::string show_text(const std::string& value);
[[nodiscard]] std::string show_texts(const std::vector<std::string>& values);

// Gets each row, before the rows of its table; `prefix` is "index.upstream." for those of [[index.upstream]].
// `shown`: the default as TOML has it.
using TomlVisit =
    std::function<void(const std::string& prefix, const TomlFacts& facts, const std::string& shown)>;
// One row of the page: key, type and default.
[[nodiscard]] std::string document_key(const TomlFacts& facts, const std::string& name,
                                       const std::string& shown);

template <typename T>
struct TomlMember {
    using Item = T;
    static constexpr bool is_list = false;
};
template <typename T>
struct TomlMember<std::optional<T>> : TomlMember<T> {
    static constexpr bool is_optional = true;
};
template <typename T>
struct TomlMember<std::vector<T>> {
    using Item = T;
    static constexpr bool is_list = true;
};
template <typename T>
struct TomlMember<std::set<T>> : TomlMember<std::vector<T>> {};
template <typename T>
using TomlItem = typename TomlMember<T>::Item;

template <typename T>
std::string show_member(const TomlFacts& facts, const T& value) {
    if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
    if constexpr (std::is_same_v<T, std::string>) return show_text(value);
    if constexpr (std::integral<T> && !std::is_same_v<T, bool>)
        return std::to_string(static_cast<std::int64_t>(value) / facts.unit);
    if constexpr (TomlMember<T>::is_list && std::is_same_v<TomlItem<T>, std::string>)
        return show_texts({value.begin(), value.end()});
    return {};
}

template <typename T>
std::string type_of_member() {
    if constexpr (std::is_same_v<T, bool>) return "boolean";
    if constexpr (std::is_same_v<T, std::string>) return "text";
    if constexpr (std::is_same_v<T, std::filesystem::path>) return "path";
    if constexpr (TomlMember<T>::is_list && !std::is_same_v<T, TomlPairs>) return "list";
    return std::integral<T> ? "integer" : "table of texts";
}

// One key; the type of the member is erased.
template <typename Owner>
struct TomlRow {
    TomlFacts facts;
    std::function<bool(TomlTable&, const TomlFacts&, Owner&)> read;  // whether the key is given
    std::function<std::string(const TomlFacts&, const Owner&)> show = {};
    // Gives a later layer's value to an owner that has an earlier layer's.
    std::function<void(const Owner& from, Owner& into)> copy = {};
    std::function<bool(const Owner&)> condition = {};  // where it is false the key is unknown
    std::function<void(const std::string& prefix, const TomlVisit&)> inner = {};  // the rows of a table

    // As TOML has it; empty for a table.
    [[nodiscard]] std::string shown(const Owner& owner) const { return show ? show(facts, owner) : ""; }
    // In the file that a program writes for a new configuration: the value, and the comment.
    TomlRow sample(std::string value) && {
        facts.sample = std::move(value);
        return std::move(*this);
    }
    TomlRow hint(std::string text, std::string value = {}) && {
        facts.hint = std::move(text);
        return std::move(*this).sample(std::move(value));
    }
    TomlRow when(std::function<bool(const Owner&)> of_owner) && {
        condition = std::move(of_owner);
        return std::move(*this);
    }
    TomlRow copied_by(std::function<void(const Owner& from, Owner& into)> by) && {
        copy = std::move(by);
        return std::move(*this);
    }
};

template <typename Owner, typename T>
[[nodiscard]] TomlRow<Owner> key_read_by(std::string name, T Owner::*of, TomlFacts facts,
                                         bool (*read)(TomlTable&, const TomlFacts&, T&),
                                         std::string (*show)(const TomlFacts&, const T&)) {
    facts.name = std::move(name);
    return {std::move(facts),
            [=](TomlTable& table, const TomlFacts& own, Owner& owner) { return read(table, own, owner.*of); },
            [=](const TomlFacts& own, const Owner& owner) { return show(own, owner.*of); },
            [=](const Owner& from, Owner& into) { into.*of = from.*of; }};
}

template <typename Owner, typename T>
[[nodiscard]] TomlRow<Owner> key(std::string name, T Owner::*of, TomlFacts facts = {}) {
    if (facts.type.empty()) facts.type = type_of_member<T>();
    return key_read_by(
        std::move(name), of, std::move(facts),
        +[](TomlTable& table, const TomlFacts& own, T& into) { return read_value(table, own, into); },
        show_member<T>);
}

// A text that `from` converts to an optional value, or a list of such texts. Other texts are problems of
// facts.check.
template <auto from, typename T>
bool read_converted(TomlTable& table, const TomlFacts& facts, T& into) {
    std::conditional_t<TomlMember<T>::is_list, std::vector<std::string>, std::string> texts;
    if (!read_value(table, facts, texts)) return false;
    if constexpr (TomlMember<T>::is_list) {
        into.clear();
        for (const std::string& text : texts) {
            if (auto value = from(text)) into.push_back(*std::move(value));
        }
    } else if (auto value = from(texts)) {
        into = *std::move(value);
    } else if (texts.empty() && facts.check) {  // read_value checks no empty text
        table.report(facts.key(), facts.check(texts));
    }
    return true;
}

template <auto from, typename Owner, typename T>
[[nodiscard]] TomlRow<Owner> parsed(std::string name, T Owner::*of, std::string_view what, TomlFacts facts) {
    if (facts.choices.empty())
        facts.check = must([](const std::string& text) { return static_cast<bool>(from(text)); }, what);
    return key_read_by(
        std::move(name), of, std::move(facts), read_converted<from, T>,
        +[](const TomlFacts&, const T&) { return std::string(); });
}

// A value of an enumeration by its table of words (lib/base/text/words.hpp), or a list of such values.
template <const auto& Table, typename Owner, typename T>
[[nodiscard]] TomlRow<Owner> word(std::string name, T Owner::*of, TomlFacts facts = {}) {
    if (TomlMember<T>::is_list) facts.type = "list";
    for (const auto& row : Table.rows)
        facts.choices.emplace_back(row.text);
    return key_read_by(
        std::move(name), of, std::move(facts),
        read_converted<[](const std::string& text) { return Table.find(text); }, T>,
        +[](const TomlFacts&, const T& value) {
            if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>) {
                for (const auto& row : Table.rows)
                    if (row.value == value) return show_text(std::string(row.text));
            }
            return std::string();
        });
}

// The first key of every configuration: the only version that there is.
template <typename Owner>
[[nodiscard]] TomlRow<Owner> config_version() {
    return {{.type = "integer",
             .range = {1, 1},
             .is_required = true,
             .sample = "1",
             .is_set = true,
             .name = "config_version"},
            [](TomlTable& table, const TomlFacts& own, Owner&) {
                std::int64_t version = 1;
                return read_value(table, own, version);
            }};
}

// The tables of which the rows of one owner are keys.
class TomlGroups {
  public:
    explicit TomlGroups(const TomlTable& root) : root_(root), open_(root) {}
    // The table of the key "work.cache_gib".
    TomlTable& open(std::string_view name);
    [[nodiscard]] bool is_there() const { return is_there_; }  // the table that is open

  private:
    TomlTable root_;
    TomlTable open_;
    std::string_view path_;
    bool is_there_ = true;
};

template <typename Owner>
class TomlRows {
  public:
    TomlRows(std::initializer_list<TomlRow<Owner>> rows) : rows_(rows) {}
    // A later layer of a file replaces the table of these keys as a whole, not each key that it gives.
    TomlRows as_a_whole() && {
        for (TomlRow<Owner>& row : rows_)
            row.facts.is_of_table = true;
        return std::move(*this);
    }
    void add(const TomlRows& rows) { rows_.insert(rows_.end(), rows.rows_.begin(), rows.rows_.end()); }
    [[nodiscard]] auto begin() const { return rows_.begin(); }
    [[nodiscard]] auto end() const { return rows_.end(); }

    // Returns the rows whose keys are given.
    std::vector<const TomlRow<Owner>*> read(TomlTable& table, Owner& owner) const {
        std::vector<const TomlRow<Owner>*> given;
        TomlGroups groups(table);
        for (const TomlRow<Owner>& row : rows_) {
            TomlTable& own = groups.open(row.facts.name);
            if (row.facts.is_of_table && !groups.is_there()) continue;
            if (row.condition && !row.condition(owner)) continue;
            if (row.read(own, row.facts, owner) || row.facts.is_of_table) given.push_back(&row);
        }
        return given;
    }
    void visit(const TomlVisit& visit, const std::string& prefix = {}) const {
        for (const TomlRow<Owner>& row : rows_) {
            visit(prefix, row.facts, row.shown(Owner{}));
            if (row.inner) row.inner(prefix + row.facts.name + ".", visit);
        }
    }
    // Lines of a Markdown table: key, type and default.
    [[nodiscard]] std::string document(const std::string& of = {}) const {
        std::string text;
        visit([&](const std::string& prefix, const TomlFacts& facts,
                  const std::string& shown) { text += document_key(facts, prefix + facts.name, shown); },
              of);
        return text;
    }

  private:
    std::vector<TomlRow<Owner>> rows_;
};

// The keys of a member, which are written in the table of its owner.
template <typename Owner, typename T>
[[nodiscard]] TomlRows<Owner> within(T Owner::*of, const std::type_identity_t<TomlRows<T>>& rows) {
    TomlRows<Owner> all{};
    for (const TomlRow<T>& row : rows)
        all.add({TomlRow<Owner>{row.facts,
                                [=](TomlTable& table, const TomlFacts& own, Owner& owner) {
                                    return row.read(table, own, owner.*of);
                                },
                                [=](const TomlFacts&, const Owner& owner) { return row.shown(owner.*of); }}});
    return all;
}

// A table or an array of tables, by the type of the member; the keys of a table that is absent are not
// missing, unless it is always read. `then` runs when an item was read, before it is added to its list.
template <typename Owner, typename T>
[[nodiscard]] TomlRow<Owner> table(
    std::string name, T Owner::*of, TomlRows<TomlItem<T>> rows, TomlFacts facts = {},
    std::type_identity_t<std::function<void(TomlTable&, TomlItem<T>&, Owner&)>> then = {}) {
    constexpr bool is_list = TomlMember<T>::is_list;
    facts.name = std::move(name);
    facts.type = is_list ? "tables" : "table";
    if (facts.fallback.empty()) facts.fallback = is_list ? "none" : "absent";
    const auto shared = std::make_shared<const TomlRows<TomlItem<T>>>(std::move(rows));
    const auto read_item = [shared, then](TomlTable inner, TomlItem<T>& item, Owner& owner) {
        shared->read(inner, item);
        if (then) then(inner, item, owner);
    };
    TomlRow<Owner> row{std::move(facts), [=](TomlTable& outer, const TomlFacts& own, Owner& owner) {
                           const bool is_given = outer.has(own.key());
                           T& member = owner.*of;
                           if constexpr (is_list) {
                               if (is_given) member.clear();
                               for (const TomlTable& inner : outer.tables(own.key())) {
                                   TomlItem<T> item;
                                   read_item(inner, item, owner);
                                   member.push_back(std::move(item));
                               }
                           } else if (const auto inner = outer.table_or_empty(own.key());
                                      is_given || own.is_always_read) {
                               if constexpr (requires { member.emplace(); })
                                   read_item(inner, member.emplace(), owner);
                               else
                                   read_item(inner, member, owner);
                           }
                           return is_given;
                       }};
    row.copy = [of](const Owner& from, Owner& into) { into.*of = from.*of; };
    row.inner = [shared](const std::string& prefix, const TomlVisit& visit) { shared->visit(visit, prefix); };
    return row;
}

}  // namespace wheelyard::io
