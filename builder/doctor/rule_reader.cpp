// Reads rules from TOML, and checks each by itself.
#include <algorithm>

#include "builder/doctor/rule_book.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_code_bytes = 64;

// "memory.compiler_killed"
bool is_code(std::string_view code) {
    const auto is_word = [](std::string_view word) {
        return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
            return (c >= 'a' && c <= 'z') || base::is_ascii_digit(c) || c == '_';
        });
    };
    const auto words = base::split(code, '.');
    return code.size() <= max_code_bytes && words.size() == 2 && is_word(words[0]) && is_word(words[1]);
}

// What is wrong with a pattern; empty: nothing.
std::string wrong_pattern(std::string_view pattern) {
    const bool is_ascii =
        std::all_of(pattern.begin(), pattern.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_ascii) return "has something else than printable ASCII";
    if (pattern != base::ascii_lower(pattern))
        return "is not lower case, as lines are when they are compared";
    if (pattern.size() > max_pattern_bytes)
        return "is longer than " + std::to_string(max_pattern_bytes) + " bytes";
    if (max_literal(pattern).size() < min_pattern_bytes)
        return "has no piece of " + std::to_string(min_pattern_bytes) + " bytes, so it is in too many lines";
    return {};
}

std::vector<std::string> read_patterns(io::TomlTable& table, const DoctorRule& before) {
    auto patterns = table.strings_or("patterns", before.patterns);
    if (patterns.empty()) table.report("patterns", "`patterns` is missing or empty");
    if (patterns.size() > max_rule_patterns)
        table.report("patterns", "more than " + std::to_string(max_rule_patterns) + " patterns");
    for (const auto& one : patterns) {
        if (const auto wrong = wrong_pattern(one); !wrong.empty())
            table.report("patterns", "the pattern \"" + one + "\" " + wrong);
    }
    return patterns;
}

std::string read_sentence(io::TomlTable& table, std::string_view key, const std::string& before) {
    auto text = table.string_or(key, before);
    if (!text.ends_with('.')) table.report(key, "`" + std::string(key) + "` is no sentence with a full stop");
    return text;
}

std::string read_text(io::TomlTable& table, std::string_view key, const std::string& before) {
    auto text = table.string_or(key, before);
    if (base::trim(text).empty()) table.report(key, "`" + std::string(key) + "` is missing or empty");
    return text;
}

template <typename Enum>
Enum read_word(io::TomlTable& table, std::string_view key, Enum before,
               const std::vector<std::string>& words) {
    const auto word = table.choice_or(key, words[static_cast<std::size_t>(before)], words);
    return static_cast<Enum>(std::find(words.begin(), words.end(), word) - words.begin());
}

const DoctorRule* rule_with(const std::vector<DoctorRule>& rules, std::string_view code) {
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const DoctorRule& one) { return one.code == code; });
    return found == rules.end() ? nullptr : &*found;
}

// The rule of ours that this one overrides; null: none. Reports a code that is taken.
const DoctorRule* check_code(io::TomlTable& table, const std::string& code,
                             const std::vector<DoctorRule>* ours, const RulesRead& read) {
    if (!is_code(code))
        table.report("code", "`code` is not GROUP.NAME of lower-case letters, digits and `_`");
    if (rule_with(read.fresh, code) != nullptr || rule_with(read.overriding, code) != nullptr)
        table.report("code", "an earlier rule has the code " + code);
    const bool overrides = ours != nullptr && table.boolean_or("override", false);
    const DoctorRule* one = ours == nullptr ? nullptr : rule_with(*ours, code);
    if (one != nullptr && !overrides)
        table.report("code", "Wheelyard's own rules have " + code +
                                 ": choose another code, or say `override = true` to change that rule");
    if (one == nullptr && overrides) table.report("override", "Wheelyard's own rules have no " + code);
    return one;
}

}  // namespace

void read_rules(std::string_view text, const std::filesystem::path& file, const std::vector<DoctorRule>* ours,
                RulesRead& into) {
    auto document = io::TomlDocument::parse(text, file);
    if (!document) return into.problems.push_back(document.error().text());
    io::TomlTable root = document->root();
    const bool is_shared = root.boolean_or("shared_by_many", false);
    for (io::TomlTable table : root.tables("rule")) {
        const std::string code = table.string("code");
        const DoctorRule* overridden = check_code(table, code, ours, into);
        DoctorRule rule = overridden != nullptr ? *overridden : DoctorRule();
        rule.code = code;
        rule.patterns = read_patterns(table, rule);
        rule.weight = read_word(table, "weight", rule.weight, weight_words());
        rule.automatic = read_word(table, "automatic", rule.automatic, automatic_words());
        rule.cause = read_sentence(table, "cause", rule.cause);
        rule.remedy = read_sentence(table, "remedy", rule.remedy);
        rule.source = read_text(table, "source", rule.source);
        rule.excerpt = read_text(table, "excerpt", rule.excerpt);
        rule.in_warnings = table.boolean_or("in_warnings", rule.in_warnings);
        rule.is_consequence = table.boolean_or("is_consequence", rule.is_consequence);
        rule.is_shared = is_shared || rule.is_shared;
        if (ours != nullptr) {
            rule.place = table.place();
            for (const auto& pattern : rule.patterns)
                into.pattern_bytes += pattern.size();
            if (into.fresh.size() + into.overriding.size() >= max_site_rules ||
                into.pattern_bytes > max_site_pattern_bytes)
                table.report("code", "more than " + std::to_string(max_site_rules) + " rules of a site, or " +
                                         std::to_string(max_site_pattern_bytes) + " bytes of their patterns");
        }
        if (const auto whole = table.finish(); !whole) {
            into.problems.push_back(whole.error().sentence);
        } else {
            (overridden != nullptr ? into.overriding : into.fresh).push_back(std::move(rule));
        }
    }
    if (const auto rest = document->finish(); !rest) into.problems.push_back(rest.error().sentence);
}

}  // namespace wheelyard::builder
