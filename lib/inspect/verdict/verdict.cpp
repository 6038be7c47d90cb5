#include "lib/inspect/verdict/verdict.hpp"

#include <algorithm>
#include <array>

namespace wheelyard::inspect {

namespace {
constexpr std::array<std::string_view, 5> severity_texts = {"ignore", "note", "warn", "quarantine", "reject"};
}  // namespace

std::string_view severity_text(Severity severity) {
    return severity_texts.at(static_cast<std::size_t>(severity));
}

std::optional<Severity> parse_severity(std::string_view text) {
    const auto found = std::find(severity_texts.begin(), severity_texts.end(), text);
    if (found == severity_texts.end()) return std::nullopt;
    return static_cast<Severity>(found - severity_texts.begin());
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
