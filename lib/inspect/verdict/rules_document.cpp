#include "lib/inspect/verdict/rules_document.hpp"

#include <vector>

#include "lib/base/text_table.hpp"

namespace wheelyard::inspect {
namespace {

std::string_view group_of(std::string_view code) {
    return code.substr(0, code.find('.'));
}

}  // namespace

std::string render_rules_markdown() {
    std::string text =
        "# Rules for wheels\n\n"
        "<!-- Generated from lib/inspect/rules.cpp by `wheelyard-registry check --explain all --markdown`; "
        "do not edit. -->\n\n"
        "Every wheel that is uploaded, mirrored or about to be uploaded by an agent is checked against these "
        "rules. *reject* refuses "
        "it, *quarantine* keeps it unpublished until a person decides, *warn* and *note* are shown, *ignore* "
        "is told only where an index's policy asks for it. A policy may give a rule another severity; a "
        "finding after which nothing more of a wheel can be read always refuses it.\n";
    std::string_view group;
    for (const Rule& rule : rules()) {
        if (group_of(rule.code) != group) {
            group = group_of(rule.code);
            text += "\n## " + std::string(group) +
                    "\n\n| code | severity | what is wrong | what to do | source |\n|---|---|---|---|---|\n";
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
