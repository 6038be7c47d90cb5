#include "lib/inspect/verdict/verdict.hpp"

#include "lib/base/text/words.hpp"

namespace wheelyard::inspect {

namespace {
constexpr auto severities = base::words<Severity>({{Severity::ignore, "ignore"},
                                                   {Severity::note, "note"},
                                                   {Severity::warn, "warn"},
                                                   {Severity::quarantine, "quarantine"},
                                                   {Severity::reject, "reject"}});
}  // namespace

std::string_view severity_text(Severity severity) {
    return severities.text(severity);
}

std::optional<Severity> parse_severity(std::string_view text) {
    return severities.find(text);
}

const Rule* find_rule(std::string_view code) {
    for (const Rule& rule : rules()) {
        if (rule.code == code) return &rule;
    }
    return nullptr;
}

std::string Verdict::text() const {
    const Rule* rule = find_rule(code);
    std::string line = std::string(code) + ": " + std::string(rule == nullptr ? "" : rule->sentence);
    if (!member.empty()) line += " [" + member + "]";
    if (!expected.empty()) line += " expected " + expected;
    if (!expected.empty() && !found.empty()) line += ",";
    if (!found.empty()) line += " found " + found;
    return line;
}

}  // namespace wheelyard::inspect
