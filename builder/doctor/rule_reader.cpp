// Reads rules from TOML, and checks each by itself.
#include <algorithm>
#include <utility>

#include "builder/doctor/rule_book.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml_rows.hpp"

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

std::string wrong_pattern(const std::string& pattern) {
    const std::string named = "the pattern \"" + pattern + "\" ";
    const bool is_ascii =
        std::all_of(pattern.begin(), pattern.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_ascii) return named + "has something else than printable ASCII";
    if (pattern != base::ascii_lower(pattern))
        return named + "is not lower case, as lines are when they are compared";
    if (pattern.size() > max_pattern_bytes)
        return named + "is longer than " + std::to_string(max_pattern_bytes) + " bytes";
    if (max_literal(pattern).size() < min_pattern_bytes)
        return named + "has no piece of " + std::to_string(min_pattern_bytes) +
               " bytes, so it is in too many lines";
    return {};
}

// Of what a rule of the site leaves out, the rule that it overrides has the values.
const io::TomlRows<DoctorRule>& rule_rows() {
    using R = DoctorRule;
    using io::key;
    static const io::TomlRows<R> rows{
        key("patterns", &R::patterns, {.if_empty = "`patterns` is missing or empty", .check = wrong_pattern}),
        io::word<weights>("weight", &R::weight),
        io::word<automatics>("automatic", &R::automatic),
        key("cause", &R::cause),
        key("remedy", &R::remedy),
        key("source", &R::source),
        key("excerpt", &R::excerpt),
        io::word<speakers>("speakers", &R::speakers),
        key("lookalikes", &R::lookalikes),
        key("in_warnings", &R::in_warnings),
        key("is_consequence", &R::is_consequence),
    };
    return rows;
}

// At the top of a file, for all its rules.
const io::TomlRows<DoctorRule>& file_rows() {
    static const io::TomlRows<DoctorRule> rows{
        io::key("shared_by_many", &DoctorRule::is_shared),
        io::word<speakers>("speakers", &DoctorRule::speakers),
    };
    return rows;
}

void check_rule(io::TomlTable& table, const DoctorRule& rule) {
    if (rule.patterns.size() > max_rule_patterns)
        table.report("patterns", "more than " + std::to_string(max_rule_patterns) + " patterns");
    for (const auto& [key, text] : {std::pair("cause", &rule.cause), std::pair("remedy", &rule.remedy)})
        if (!text->ends_with('.'))
            table.report(key, "`" + std::string(key) + "` is no sentence with a full stop");
    for (const auto& [key, text] : {std::pair("source", &rule.source), std::pair("excerpt", &rule.excerpt)})
        if (base::trim(*text).empty()) table.report(key, "`" + std::string(key) + "` is missing or empty");
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
    DoctorRule of_file;
    file_rows().read(root, of_file);
    for (io::TomlTable table : root.tables("rule")) {
        const std::string code = table.string("code");
        const DoctorRule* overridden = check_code(table, code, ours, into);
        DoctorRule rule = overridden != nullptr ? *overridden : of_file;
        rule.code = code;
        rule_rows().read(table, rule);
        check_rule(table, rule);
        rule.is_shared = of_file.is_shared || rule.is_shared;
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
