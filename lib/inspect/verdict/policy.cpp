#include "lib/inspect/verdict/policy.hpp"

#include <algorithm>

#include "lib/base/check.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

Policy strict_policy() {
    Policy policy;
    for (const Rule& rule : rules()) {
        if (rule.strict) policy.severities.emplace(rule.code, Severity::reject);
    }
    return policy;
}

// A mirror cannot fix wheels of other projects: it publishes them with their findings.
Policy mirror() {
    Policy policy;
    for (const Rule& rule : rules()) {
        if (rule.severity > Severity::warn) policy.severities.emplace(rule.code, Severity::warn);
    }
    return policy;
}

std::string with_suggestion(std::string sentence, std::string_view word,
                            const std::vector<std::string>& known) {
    if (const auto near = base::nearest(word, known)) {
        sentence += "; did you mean \"";
        sentence += *near;
        sentence += "\"?";
    }
    return sentence;
}

}  // namespace

Severity severity_under(const Policy& policy, std::string_view code) {
    const auto chosen = policy.severities.find(code);
    if (chosen != policy.severities.end()) return chosen->second;
    const Rule* rule = find_rule(code);
    WHEELYARD_CHECK(rule != nullptr);
    return rule->severity;
}

const std::vector<PolicyPreset>& policy_presets() {
    static const std::vector<PolicyPreset> presets = {
        {"linux", "the default rules: for wheels of one cluster or site (linux_* tags)"},
        {"manylinux-strict", "only wheels that fully satisfy a manylinux or musllinux tag"},
        {"mirror", "wheels of other projects: warnings only, except for wheels that no installer takes"},
    };
    return presets;
}

std::optional<Policy> make_preset(std::string_view name) {
    if (name == "linux") return Policy{};
    if (name == "manylinux-strict") return strict_policy();
    if (name == "mirror") return mirror();
    return std::nullopt;
}

std::string unknown_rule_sentence(std::string_view code) {
    std::vector<std::string> codes;
    for (const Rule& rule : rules())
        codes.emplace_back(rule.code);
    return with_suggestion("unknown rule `" + std::string(code) + "`", code, codes);
}

std::string unknown_preset_sentence(std::string_view name) {
    std::vector<std::string> names;
    for (const PolicyPreset& preset : policy_presets())
        names.emplace_back(preset.name);
    return with_suggestion(
        "unknown preset `" + std::string(name) + "` (known: " + base::join(names, ", ") + ")", name, names);
}

std::string unknown_severity_sentence(std::string_view code, std::string_view severity) {
    return "`" + std::string(code) +
           "` must be \"reject\", \"quarantine\", \"warn\", \"note\" or \"ignore\", not \"" +
           std::string(severity) + "\"";
}

}  // namespace wheelyard::inspect
