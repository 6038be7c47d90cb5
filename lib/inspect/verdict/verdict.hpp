// A finding on a wheel: what rule, how bad, where, what was expected and what was found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// ignore: not even told. quarantine: kept, but not offered, until a person decides.
enum class Severity { ignore, note, warn, quarantine, reject };
[[nodiscard]] std::string_view severity_text(Severity severity);
[[nodiscard]] std::optional<Severity> parse_severity(std::string_view text);

// One row of the rule table (lib/inspect/rules.cpp): adding a rule is adding a row, its evidence and its
// test.
struct Rule {
    std::string_view code;      // "record.hash_mismatch", stable
    Severity severity;          // unless an index's policy says otherwise
    std::string_view sentence;  // what is wrong, for a person
    std::string_view advice;    // what to do about it
    std::string_view source;    // PEP, specification section or our own policy document
};
[[nodiscard]] const std::vector<Rule>& rules();
[[nodiscard]] const Rule* find_rule(std::string_view code);

struct Verdict {
    std::string_view code;  // of a Rule
    Severity severity = Severity::reject;
    std::string member;                      // the member of the archive it is about, or empty
    std::string expected;                    // may be empty
    std::string found;                       // evidence: offset, symbol, digest …
    [[nodiscard]] std::string text() const;  // one line: code, sentence, evidence
};

}  // namespace wheelyard::inspect
