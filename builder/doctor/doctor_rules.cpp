// What the words of a rule mean; matches patterns, renders the documentation.
#include "builder/doctor/doctor_rules.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

std::string_view group_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

}  // namespace

std::string automatic_sentence(const DoctorRule& rule) {
    return base::replace_all(automatics.row(rule.automatic).sentence, "CODE", rule.code);
}

std::string cause_of(const DoctorRule& rule) {
    return rule.cause.substr(0, rule.cause.find_last_not_of('.') + 1);
}

bool is_survivable(std::string_view pattern) {
    return pattern.starts_with('?');
}

bool is_passing(std::string_view pattern) {
    return pattern.starts_with('~');
}

std::string_view without_mark(std::string_view pattern) {
    return pattern.substr(is_survivable(pattern) || is_passing(pattern) ? 1 : 0);
}

bool matches_pattern(std::string_view pattern, std::string_view lower) {
    for (const auto piece : base::split(without_mark(pattern), '*')) {
        const auto at = lower.find(piece);
        if (at == std::string_view::npos) return false;
        lower.remove_prefix(at + piece.size());
    }
    return true;
}

bool matches_words(std::string_view pattern, std::string_view lower) {
    const std::string_view plain = without_mark(pattern);
    const std::string_view first = plain.substr(0, plain.find('*'));
    const bool anywhere = first.empty() || !base::is_ascii_alnum(first.front()) ||
                          first.starts_with("error") || first.starts_with("exception");
    for (auto at = lower.find(first); at != std::string_view::npos; at = lower.find(first, at + 1)) {
        if (anywhere || at == 0 || !base::is_ascii_alnum(lower[at - 1]))
            return matches_pattern(plain, lower.substr(at));
    }
    return false;
}

bool matches(const DoctorRule& rule, std::string_view pattern, std::string_view lower) {
    const bool is_short = rule.weight != Weight::cause || is_passing(pattern);
    return is_short ? matches_words(pattern, lower) : matches_pattern(pattern, lower);
}

std::string_view max_literal(std::string_view pattern) {
    std::string_view longest;
    for (const auto piece : base::split(without_mark(pattern), '*')) {
        if (piece.size() > longest.size()) longest = piece;
    }
    return longest;
}

std::string render_doctor_rules_markdown(std::vector<DoctorRule> rules) {
    std::string text =
        "# Rules for build logs\n\n"
        "*Reference for staff of a site: every cause that the doctor recognises in a build log, its remedy,\n"
        "and what the agent does.*\n\n"
        "<!-- Generated from builder/doctor/rules/*.toml by `wheelyard-builder doctor --explain all "
        "--markdown`; do not edit. -->\n\n"
        "`wheelyard-builder doctor LOG` applies these rules to a log, and so does the agent to a failed\n"
        "attempt. If several rules match, the highest weight wins (*machine*, then *cause*, then *symptom*,\n"
        "then *hint*), but every cause with a name of its own before one that many share, then the\n"
        "earliest line.\n\n"
        "A line that a build may survive (a warning, a probe of a configuration, a *hint*) never outranks a\n"
        "later error, also one that no rule knows. Nor does what a program may get over (a caught\n"
        "`MemoryError`, a child that was killed, a thread that could not start) outrank a later error that\n"
        "names a reason of its own.\n\n"
        "The column *agent* says what the agent does without a person, within the site's limits and\n"
        "`max_attempts`:\n\n";
    for (const auto& row : automatics.rows)
        text += "- *" + std::string(row.text) + "*: " + std::string(row.sentence) + "\n";
    std::stable_sort(rules.begin(), rules.end(), [](const DoctorRule& a, const DoctorRule& b) {
        return group_of(a.code) < group_of(b.code);
    });
    std::string_view group;
    for (const auto& rule : rules) {
        if (group_of(rule.code) != group) {
            group = group_of(rule.code);
            text += "\n## " + std::string(group) +
                    "\n\n| code | weight | cause | what to do | agent |\n|---|---|---|---|---|\n";
        }
        text += "| `" + rule.code + "` | " + std::string(weights.text(rule.weight)) + " | " +
                base::replace_all(rule.cause, "|", "\\|") + " | " +
                base::replace_all(rule.remedy, "|", "\\|") + " | " +
                std::string(automatics.text(rule.automatic)) + " |\n";
    }
    return text;
}

}  // namespace wheelyard::builder
