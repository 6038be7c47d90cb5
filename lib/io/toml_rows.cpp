// Reads, shows and documents the values of rows.
#include "lib/io/toml_rows.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::io {
namespace {

using Normal = std::function<std::string(const std::string&)>;

std::string checked(TomlTable& table, std::string_view key, const std::string& text, const TextCheck& check,
                    const Normal& normal) {
    const std::string fault = check ? check(text) : "";
    if (!fault.empty()) table.report(key, fault);
    return normal ? normal(text) : text;
}

std::string checked(TomlTable& table, const TomlFacts& facts, const std::string& text) {
    return checked(table, facts.key(), text, facts.check, facts.normal);
}

std::string checked_name(TomlTable& table, const TomlFacts& facts, const std::string& name) {
    return checked(table, facts.key(), name, facts.name_check, facts.normal_name);
}

bool is_missing(TomlTable& table, const TomlFacts& facts, const char* expected) {
    return facts.is_required && !table.require(facts.key(), expected);
}

// "1,048,576"
std::string with_commas(std::int64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; number >= 10'000 && at > 0; at -= 3)
        text.insert(static_cast<std::size_t>(at), ",");
    return text;
}

std::string type_in_page(const TomlFacts& facts) {
    const bool is_list = facts.type == "list";
    if (!facts.choices.empty())
        return (is_list ? "list of `" : "`") + base::join(facts.choices, "`, `") + "`";
    if (facts.type != "integer" || facts.range.max == std::numeric_limits<std::int64_t>::max())
        return facts.type;
    if (facts.range.min == facts.range.max) return std::to_string(facts.range.min);
    return with_commas(facts.range.min) + " to " + with_commas(facts.range.max);
}

std::string default_in_page(const TomlFacts& facts, const std::string& shown) {
    if (!facts.fallback.empty()) return facts.fallback;
    if (facts.is_required) return "required";
    if (shown == "[]" && !facts.if_empty.empty()) return "required";
    if (shown.empty() || shown == "\"\"" || shown == "[]") return "none";
    return shown.starts_with('"') ? "`" + shown.substr(1, shown.size() - 2) + "`" : shown;
}

}  // namespace

TextCheck must(std::function<bool(const std::string&)> is_valid, std::string_view what) {
    return [is_valid = std::move(is_valid), what = std::string(what)](const std::string& text) {
        return is_valid(text) ? "" : "expected " + what + ", found `" + text + "`";
    };
}

std::string_view TomlFacts::key() const {
    const auto dot = name.rfind('.');
    return dot == std::string::npos ? std::string_view(name) : std::string_view(name).substr(dot + 1);
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::string& into) {
    if (is_missing(table, facts, "a string")) return false;
    if (!facts.choices.empty()) {
        into = table.choice_or(facts.key(), into, facts.choices);
        return table.has(facts.key());
    }
    auto text = table.string_if(facts.key());
    if (!text) return false;
    if (text->empty() && facts.is_required && !facts.check)
        table.report(facts.key(), "`" + std::string(facts.key()) + "` is empty");
    into = text->empty() && !facts.is_required ? "" : checked(table, facts, *text);
    return true;
}

bool read_value(TomlTable& table, const TomlFacts& facts, bool& into) {
    into = table.boolean_or(facts.key(), into);
    return table.has(facts.key());
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::int64_t& into) {
    if (is_missing(table, facts, "an integer")) return false;
    into = table.integer_or(facts.key(), into / facts.unit, facts.range.min, facts.range.max) * facts.unit;
    return table.has(facts.key());
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::filesystem::path& into) {
    if (is_missing(table, facts, "a path")) return false;
    auto path = table.path_if(facts.key());
    if (path) into = *std::move(path);
    return path.has_value();
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::vector<std::string>& into) {
    if (is_missing(table, facts, "an array of strings")) return false;
    const auto texts = table.strings_or(facts.key(), into);
    if (texts.empty() && !facts.if_empty.empty()) table.report(facts.key(), facts.if_empty);
    if (!table.has(facts.key())) return false;
    into.clear();
    for (const std::string& text : texts) {
        if (!facts.choices.empty() &&
            std::find(facts.choices.begin(), facts.choices.end(), text) == facts.choices.end())
            table.report(facts.key(),
                         "expected one of `" + base::join(facts.choices, "`, `") + "`, found `" + text + "`");
        into.push_back(checked(table, facts, text));
    }
    return true;
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::set<std::string>& into) {
    std::vector<std::string> texts(into.begin(), into.end());
    const bool is_given = read_value(table, facts, texts);
    into = {texts.begin(), texts.end()};
    return is_given;
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::vector<std::filesystem::path>& into) {
    std::vector<std::string> texts;
    if (!read_value(table, facts, texts)) return false;
    into.clear();
    for (const std::string& text : texts) {
        if (text.empty()) table.report(facts.key(), "expected a path, found the empty text");
        into.push_back(table.resolved(text));
    }
    return true;
}

bool read_value(TomlTable& table, const TomlFacts& facts, TomlPairs& into) {
    auto pairs = table.string_map(facts.key());
    if (!table.has(facts.key())) return false;
    into.clear();
    for (auto& [name, text] : pairs)
        into.emplace_back(checked_name(table, facts, name), checked(table, facts, text));
    return true;
}

bool read_value(TomlTable& table, const TomlFacts& facts, std::map<std::string, std::string>& into) {
    TomlPairs pairs;
    if (!read_value(table, facts, pairs)) return false;
    into.clear();
    for (auto& [name, text] : pairs)
        into.insert_or_assign(std::move(name), std::move(text));
    return true;
}

bool read_value(TomlTable& table, const TomlFacts& facts,
                std::map<std::string, std::vector<std::string>>& into) {
    TomlTable inner = table.table_or_empty(facts.key());
    if (!table.has(facts.key())) return false;
    into.clear();
    for (const std::string& name : inner.keys()) {
        auto& texts = into[checked_name(table, facts, name)];
        for (const std::string& text : inner.strings_or(name, {}))
            texts.push_back(checked(inner, name, text, facts.check, facts.normal));
    }
    return true;
}

std::string show_text(const std::string& value) {
    return "\"" + value + "\"";
}

std::string show_texts(const std::vector<std::string>& values) {
    std::vector<std::string> texts;
    for (const std::string& value : values)
        texts.push_back(show_text(value));
    return "[" + base::join(texts, ", ") + "]";
}

std::string document_key(const TomlFacts& facts, const std::string& name, const std::string& shown) {
    const bool is_table = facts.type == "table", is_list = facts.type == "tables";
    return "| `" +
           (is_table  ? "[" + name + "]"
            : is_list ? "[[" + name + "]]"
                      : name) +
           "` | " + type_in_page(facts) + " | " + default_in_page(facts, shown) + " |\n";
}

TomlTable& TomlGroups::open(std::string_view name) {
    const auto dot = name.rfind('.');
    const std::string_view path = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
    if (path == path_) return open_;
    path_ = path;
    open_ = root_;
    is_there_ = true;
    if (path.empty()) return open_;
    for (const auto part : base::split(path, '.')) {
        is_there_ = is_there_ && open_.has(part);
        open_ = open_.table_or_empty(part);
    }
    return open_;
}

}  // namespace wheelyard::io
