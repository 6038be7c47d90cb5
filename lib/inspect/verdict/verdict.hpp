// A finding on a wheel: rule, severity, place, expectation and evidence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// ignore: not reported. quarantine: kept but not published until a person decides.
enum class Severity { ignore, note, warn, quarantine, reject };
[[nodiscard]] std::string_view severity_text(Severity severity);
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view text);

// One row of the rule table (lib/inspect/verdict/rules.cpp). A new rule needs a row, its evidence and a test.
struct Rule {
    std::string_view code;      // stable
    Severity severity;          // default; an index's policy may change it
    std::string_view sentence;  // the problem, for people
    std::string_view advice;    // what to do about it
    std::string_view source;    // PEP, specification section or our own policy document
    // `manylinux-strict` rejects it although the default does not: PEP 600 requires that a wheel runs
    // everywhere.
    bool strict = false;
};
[[nodiscard]] const std::vector<Rule>& rules();
[[nodiscard]] const Rule* find_rule(std::string_view code);

struct Verdict {
    std::string_view code;  // the Rule's
    Severity severity = Severity::reject;
    std::string member;                      // the archive member concerned; may be empty
    std::string expected;                    // may be empty
    std::string found;                       // the evidence: offset, symbol, digest …
    [[nodiscard]] std::string text() const;  // one line: code, sentence, evidence
};

// Renders the rule table: docs/reference/rules.md and the output of `check --explain`.
[[nodiscard]] std::string render_rules_markdown();  // the exact content of docs/reference/rules.md
[[nodiscard]] std::string render_rules_text();      // one line per rule
[[nodiscard]] std::string render_rule_text(const Rule& rule);

}  // namespace wheelyard::inspect
