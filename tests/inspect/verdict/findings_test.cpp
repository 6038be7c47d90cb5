// The text of a finding, and which findings are shown.
#include "lib/inspect/verdict/findings.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace wheelyard;
using inspect::Findings;
using inspect::Policy;
using inspect::Severity;
using inspect::Verdict;

TEST_CASE("a finding's line has its rule's sentence and the evidence that there is") {
    const std::string sentence(inspect::find_rule("elf.search_path")->sentence);
    const std::string begin = "elf.search_path: " + sentence;
    struct Row {
        Verdict verdict;
        std::string text;
    };
    const Row rows[] = {
        {{"elf.search_path", Severity::reject, "", "", ""}, begin},
        {{"elf.search_path", Severity::reject, "a.so", "", ""}, begin + " [a.so]"},
        {{"elf.search_path", Severity::reject, "", "x", ""}, begin + " expected x"},
        {{"elf.search_path", Severity::reject, "", "", "y"}, begin + " found y"},
        {{"elf.search_path", Severity::reject, "a.so", "x", "y"}, begin + " [a.so] expected x, found y"},
        {{"no.such_rule", Severity::reject, "", "", ""}, "no.such_rule: "},
    };
    for (const auto& [verdict, text] : rows)
        CHECK(verdict.text() == text);
}

TEST_CASE("the last finding that is shown of a rule counts those that are not") {
    const Policy policy;
    for (const std::size_t count : {inspect::max_verdicts_shown - 1, inspect::max_verdicts_shown,
                                    inspect::max_verdicts_shown + 1, inspect::max_verdicts_collected + 2}) {
        CAPTURE(count);
        Findings findings(policy);
        for (std::size_t i = 0; i < count; ++i)
            findings.add("elf.search_path", "a.so", {}, "/tmp");
        CHECK(findings.has("elf.search_path"));
        const auto shown = findings.take();
        CHECK(shown.size() == std::min(count, inspect::max_verdicts_shown));
        const std::size_t omitted = count - shown.size();
        const std::string more = " … and " + std::to_string(omitted) + " more like this";
        CHECK(shown.back().found == "/tmp" + (omitted > 0 ? more : ""));
        CHECK(findings.take().empty());
    }
}
