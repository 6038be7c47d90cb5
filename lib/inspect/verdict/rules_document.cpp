// Renders the rule table.
#include "lib/inspect/verdict/verdict.hpp"

#include <vector>

#include "lib/base/text/text_table.hpp"

namespace wheelyard::inspect {
namespace {

std::string_view group_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

}  // namespace

std::string render_rules_markdown() {
    std::string text =
        "# Rules for wheels\n\n"
        "*Reference for operators and staff of a site: every rule of the wheel inspection, with its "
        "severity\n"
        "and what to do.*\n\n"
        "<!-- Generated from lib/inspect/verdict/rules.cpp by `wheelyard-registry check --explain all "
        "--markdown`; do not edit. -->\n\n"
        "The registry checks every uploaded and mirrored wheel against these rules. Agents check every "
        "wheel\n"
        "before they upload it. An index's [policy](registry-config.md#indexpolicy) can change the severity "
        "of\n"
        "a rule. If the rest of a wheel cannot be read after a finding, the wheel is always refused.\n\n"
        "| severity | effect |\n|---|---|\n"
        "| reject | the wheel is refused |\n"
        "| quarantine | the wheel is kept but not published until a person decides |\n"
        "| warn, note | the finding is shown |\n"
        "| ignore | the finding is shown only if an index's policy raises the rule's severity |\n";
    std::string_view group;
    for (const Rule& rule : rules()) {
        if (group_of(rule.code) != group) {
            group = group_of(rule.code);
            text += "\n## " + std::string(group) +
                    "\n\n| code | severity | problem | what to do | source |\n|---|---|---|---|---|\n";
        }
        text += "| `" + std::string(rule.code) + "` | " + std::string(severity_text(rule.severity)) + " | " +
                std::string(rule.sentence) + " | " + std::string(rule.advice) + " | " +
                std::string(rule.source) + " |\n";
    }
    return text;
}

std::string render_rules_text() {
    std::vector<base::TableRow> rows;
    for (const Rule& rule : rules())
        rows.push_back(
            {std::string(rule.code), std::string(severity_text(rule.severity)), std::string(rule.sentence)});
    return base::render_table(rows);
}

std::string render_rule_text(const Rule& rule) {
    return std::string(rule.code) + " (" + std::string(severity_text(rule.severity)) + ")\n  " +
           std::string(rule.sentence) + "\n  What to do: " + std::string(rule.advice) +
           "\n  Source: " + std::string(rule.source) + "\n";
}

}  // namespace wheelyard::inspect
