#include "lib/inspect/verdict.hpp"

#include <array>

namespace wheelyard::inspect {

std::string_view severity_text(Severity severity) {
    static constexpr std::array<std::string_view, 4> texts = {"note", "warn", "quarantine", "reject"};
    return texts.at(static_cast<std::size_t>(severity));
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
