// The table put together, its patterns, its documentation.
#include "builder/doctor_rules.hpp"

#include <algorithm>

#include "builder/doctor_rules_parts.hpp"
#include "lib/base/check.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

struct AutomaticRow {
    Automatic automatic;
    std::string_view text;
    std::string_view sentence;
};
constexpr std::array<AutomaticRow, 7> automatics = {{
    {Automatic::no, "no", "nothing is tried again before somebody mended it and said `retry`"},
    {Automatic::again, "again", "it is tried again by itself"},
    {Automatic::more_memory, "more_memory",
     "the next attempt goes on with more memory, or with fewer jobs where there is no more"},
    {Automatic::fewer_jobs, "fewer_jobs", "the next attempt goes on with half the jobs at once"},
    {Automatic::more_time, "more_time", "the next attempt goes on with more time"},
    {Automatic::go_on, "go_on",
     "the next attempt goes on in the same tree, and this one counts as a preemption"},
    {Automatic::clean_tree, "clean_tree", "the next attempt builds in a new tree, if this one was not new"},
}};

const AutomaticRow& row_of(Automatic automatic) {
    const auto* row = std::find_if(automatics.begin(), automatics.end(),
                                   [&](const AutomaticRow& one) { return one.automatic == automatic; });
    WHEELYARD_CHECK(row != automatics.end());
    return *row;
}

std::string_view group_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

}  // namespace

std::string_view automatic_text(Automatic automatic) {
    return row_of(automatic).text;
}

std::string_view automatic_sentence(Automatic automatic) {
    return row_of(automatic).sentence;
}

const std::vector<DoctorRule>& doctor_rules() {
    static const std::vector<DoctorRule> all = [] {
        std::vector<DoctorRule> rules;
        for (const auto* part : {&machine_rules(), &toolchain_rules(), &packaging_rules()})
            rules.insert(rules.end(), part->begin(), part->end());
        return rules;
    }();
    return all;
}

const DoctorRule* find_doctor_rule(std::string_view code) {
    const auto& rules = doctor_rules();
    const auto found =
        std::find_if(rules.begin(), rules.end(), [&](const DoctorRule& rule) { return rule.code == code; });
    return found == rules.end() ? nullptr : &*found;
}

bool matches_pattern(std::string_view pattern, std::string_view lower) {
    for (const auto piece : base::split(pattern, '*')) {
        const auto at = lower.find(piece);
        if (at == std::string_view::npos) return false;
        lower.remove_prefix(at + piece.size());
    }
    return true;
}

std::string_view longest_piece(std::string_view pattern) {
    std::string_view longest;
    for (const auto piece : base::split(pattern, '*')) {
        if (piece.size() > longest.size()) longest = piece;
    }
    return longest;
}

std::string render_doctor_rules_markdown() {
    std::string text =
        "# Rules for build logs\n\n"
        "*Reference for staff of a site: every cause that the doctor recognises in a build log, its remedy,\n"
        "and what the agent does.*\n\n"
        "<!-- Generated from builder/doctor_rules*.cpp by "
        "`wheelyard-builder doctor --explain all --markdown`; do not edit. -->\n\n"
        "`wheelyard-builder doctor LOG` searches a log for these causes, and so does the agent when an\n"
        "attempt fails. Of several matches the one with the largest weight counts, then the first:\n"
        "*machine* before *cause* before *symptom*. The agent does what the column *by itself* says,\n"
        "within the site's limits and `max_attempts`:\n\n";
    for (const auto& row : automatics)
        text += "- *" + std::string(row.text) + "*: " + std::string(row.sentence) + "\n";
    std::vector<DoctorRule> rules = doctor_rules();
    std::stable_sort(rules.begin(), rules.end(), [](const DoctorRule& a, const DoctorRule& b) {
        return group_of(a.code) < group_of(b.code);
    });
    std::string_view group;
    for (const auto& rule : rules) {
        if (group_of(rule.code) != group) {
            group = group_of(rule.code);
            text += "\n## " + std::string(group) +
                    "\n\n| code | weight | what it means | what to do | by itself |\n|---|---|---|---|---|\n";
        }
        static constexpr std::array<std::string_view, 3> weights = {"symptom", "cause", "machine"};
        text += "| `" + std::string(rule.code) + "` | " +
                std::string(weights[static_cast<std::size_t>(rule.weight)]) + " | " +
                base::replace_all(rule.cause, "|", "\\|") + " | " +
                base::replace_all(rule.remedy, "|", "\\|") + " | " +
                std::string(automatic_text(rule.automatic)) + " |\n";
    }
    return text;
}

}  // namespace wheelyard::builder
