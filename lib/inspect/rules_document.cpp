#include "lib/inspect/rules_document.hpp"

#include <algorithm>

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
        "<!-- Generated from lib/inspect/rules.cpp by `wheelyard-registry check --explain all --markdown`; "
        "do not edit. -->\n\n"
        "The registry checks every uploaded and imported wheel against these rules, and an agent checks its\n"
        "wheels before it uploads them. An index's [policy](registry-config.md#indexpolicy) may give a rule\n"
        "another severity. A finding after which nothing more of a wheel can be read always refuses it.\n\n"
        "| severity | effect |\n|---|---|\n"
        "| reject | the wheel is refused |\n"
        "| quarantine | the wheel is stored but offered to nobody until a person decides |\n"
        "| warn, note | the finding is shown |\n"
        "| ignore | the finding is reported only if a policy asks for it |\n";
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
    std::size_t widest = 0;
    for (const Rule& rule : rules())
        widest = std::max(widest, rule.code.size());
    std::string text;
    for (const Rule& rule : rules()) {
        std::string severity(severity_text(rule.severity));
        severity.resize(10, ' ');
        text += std::string(rule.code) + std::string(widest - rule.code.size() + 2, ' ') + severity + "  " +
                std::string(rule.sentence) + "\n";
    }
    return text;
}

std::string render_rule_text(const Rule& rule) {
    return std::string(rule.code) + " (" + std::string(severity_text(rule.severity)) + ")\n  " +
           std::string(rule.sentence) + "\n  What to do: " + std::string(rule.advice) +
           "\n  Source: " + std::string(rule.source) + "\n";
}

}  // namespace wheelyard::inspect
