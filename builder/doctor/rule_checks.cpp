// Tries rules on their excerpts, and on each other.
#include <algorithm>
#include <functional>

#include "builder/doctor/doctor.hpp"
#include "builder/doctor/rule_book.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// A line with the pattern, with something for each `*`.
std::string line_of(std::string_view pattern) {
    return base::replace_all(without_mark(pattern), "*", " x ");
}

// Says whether whatever matches `pattern` matches one of the earlier rule too, and is asked no later.
bool is_hidden_by(const DoctorRule& earlier, const DoctorRule& rule, std::string_view pattern) {
    if (rule.in_warnings && !earlier.in_warnings) return false;
    if (!earlier.speakers.empty() && earlier.speakers != rule.speakers) return false;
    return std::any_of(earlier.patterns.begin(), earlier.patterns.end(), [&](const std::string& one) {
        // The letter in front: a word that begins the pattern may go on to the left in a line.
        return matches(earlier, one, "x" + line_of(pattern));
    });
}

// The earlier rule that hides one of its patterns, if all of them are hidden; null: it is not hidden.
const DoctorRule* hider_of(const std::vector<DoctorRule>& rules, const DoctorRule& rule) {
    const DoctorRule* hider = nullptr;
    for (const auto& pattern : rule.patterns) {
        hider = std::find_if(rules.data(), &rule,
                             [&](const auto& one) { return is_hidden_by(one, rule, pattern); });
        if (hider == &rule) return nullptr;
    }
    return hider;
}

Examination examine_with(const RuleBook& book, std::string_view log) {
    Doctor doctor(book);
    doctor.feed(log);
    return doctor.finish();
}

bool finds(const Examination& seen, const DoctorRule& rule) {
    return std::any_of(seen.findings.begin(), seen.findings.end(),
                       [&](const Finding& one) { return one.rule == &rule; });
}

void check_rule(const RuleBook& book, const DoctorRule& rule,
                const std::function<void(const std::string&)>& report) {
    if (const DoctorRule* hider = hider_of(book.rules(), rule)) {
        report("no line comes to it: " + hider->code + " is asked before, and matches all of them");
    } else {
        for (const auto& pattern : rule.patterns) {
            if (!finds(examine_with(book, "error: " + line_of(pattern) + "\n"), rule))
                report("a line with the pattern \"" + pattern + "\" never comes to it");
        }
    }
    for (const auto& other : rule.lookalikes) {
        if (finds(examine_with(book, other + "\n"), rule))
            report("it takes what only looks like it: " + other);
    }
    const Examination seen = examine_with(book, rule.excerpt);
    const Finding* found = seen.likeliest();
    if (found == nullptr) {
        report("no rule matches its excerpt");
    } else if (found->rule != &rule) {
        report("its excerpt's cause is " + found->rule->code + ", by the line: " + found->text);
    }
}

}  // namespace

std::vector<std::string> check_rules(const RuleBook& book, bool all) {
    std::vector<std::string> wrong;
    for (const auto& rule : book.rules()) {
        if (rule.place.empty() && !all) continue;
        check_rule(book, rule, [&](const std::string& sentence) {
            wrong.push_back((rule.place.empty() ? "" : rule.place + ": ") + rule.code + ": " + sentence);
        });
    }
    return wrong;
}

}  // namespace wheelyard::builder
