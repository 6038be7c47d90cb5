// License expressions: their syntax, and which licences suffice for one. Expectations are those of SPDX 2.3, annex D.
#include "lib/inspect/dist_info/license_expression.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using Names = std::vector<std::string>;

TEST_CASE("license expressions are checked for the order of names and operators") {
    for (const char* text :
         {"MIT", "Apache-2.0 OR MIT", "(MIT AND BSD-3-Clause) OR GPL-2.0-only WITH Classpath-exception-2.0",
          "LicenseRef-Proprietary", "GPL-2.0+", "mit or apache-2.0", "DocumentRef-x:LicenseRef-y"}) {
        CAPTURE(text);
        CHECK(inspect::is_license_expression(text));
    }
    for (const char* text : {"", "MIT OR", "OR MIT", "MIT BSD-3-Clause", "(MIT", "MIT)", "()",
                             "MIT/Apache-2.0", "MIT, BSD", "MIT AND OR BSD"}) {
        CAPTURE(text);
        CHECK_FALSE(inspect::is_license_expression(text));
    }
}

TEST_CASE("license expressions name licences and exceptions of the SPDX list") {
    for (const char* text : {"0BSD", "apache-2.0+", "GPL-2.0", "LicenseRef-My.Own-1", "licenseref-x AND mit",
                             "MIT AND (Apache-2.0 WITH LLVM-exception OR BSD-2-Clause)"}) {
        CAPTURE(text);
        CHECK(inspect::is_license_expression(text));
    }
    for (const char* text : {"NOPE-1.0", "MIT AND NOPE-1.0", "LicenseRef-", "LicenseRef-a_b", "LicenseRef-a+",
                             "DocumentRef-:LicenseRef-y", "DocumentRef-x:MIT", "MIT WITH MIT",
                             "MIT WITH NOPE-exception", "Classpath-exception-2.0",
                             "(MIT) WITH LLVM-exception", "MIT WITH LLVM-exception WITH LLVM-exception",
                             "MIT WITH (LLVM-exception)", "BSD", "Apache 2.0", "MIT++", "+"}) {
        CAPTURE(text);
        CHECK_FALSE(inspect::is_license_expression(text));
    }
}

TEST_CASE("one licence is a name, perhaps with an exception") {
    for (const char* text :
         {"MIT", "gpl-2.0+", "LicenseRef-Site", "GPL-2.0-only WITH Classpath-exception-2.0"})
        CHECK_MESSAGE(inspect::is_one_license(text), text);
    for (const char* text :
         {"", "MIT OR BSD-3-Clause", "MIT AND BSD-3-Clause", "(MIT)", "NOPE-1.0", "MIT WITH MIT"})
        CHECK_MESSAGE(!inspect::is_one_license(text), text);
}

TEST_CASE(
    "an expression is satisfied by one side of OR and by both of AND; AND binds first, parentheses before "
    "it") {
    struct Row {
        const char* expression;
        Names allowed;
        Names missing;
    };
    const std::vector<Row> rows{
        {"MIT", {"MIT"}, {}},
        {"mit", {"MIT"}, {}},
        {"MIT", {"BSD-3-Clause"}, {"MIT"}},
        {"MIT", {}, {"MIT"}},
        {"MIT OR GPL-3.0-only", {"MIT"}, {}},
        {"GPL-3.0-only OR MIT", {"MIT"}, {}},
        {"MIT OR GPL-3.0-only", {"0BSD"}, {"MIT", "GPL-3.0-only"}},
        {"MIT AND GPL-3.0-only", {"MIT"}, {"GPL-3.0-only"}},
        {"MIT AND GPL-3.0-only", {"MIT", "GPL-3.0-only"}, {}},
        {"MIT OR 0BSD AND GPL-3.0-only", {"MIT"}, {}},
        {"0BSD AND GPL-3.0-only OR MIT", {"MIT"}, {}},
        {"(MIT OR 0BSD) AND GPL-3.0-only", {"MIT"}, {"0BSD", "GPL-3.0-only"}},
        {"(MIT OR 0BSD) AND GPL-3.0-only", {"MIT", "GPL-3.0-only"}, {}},
        {"GPL-3.0-only AND (MIT OR 0BSD)", {"0BSD", "GPL-3.0-only"}, {}},
        {"((MIT)) AND ((0BSD OR (ISC AND X11)))", {"MIT", "ISC", "X11"}, {}},
        {"((MIT)) AND ((0BSD OR (ISC AND X11)))", {"MIT", "ISC"}, {"0BSD", "X11"}},
        {"MIT OR (0BSD AND ISC)", {"ISC"}, {"MIT", "0BSD"}},
        {"GPL-2.0-only WITH Classpath-exception-2.0", {"gpl-2.0-only with classpath-exception-2.0"}, {}},
        {"GPL-2.0-only WITH Classpath-exception-2.0",
         {"GPL-2.0-only"},
         {"GPL-2.0-only WITH Classpath-exception-2.0"}},
        {"GPL-2.0-only", {"GPL-2.0-only WITH Classpath-exception-2.0"}, {"GPL-2.0-only"}},
        {"MIT AND Apache-2.0 WITH LLVM-exception OR 0BSD", {"MIT", "Apache-2.0 WITH LLVM-exception"}, {}},
        {"Apache-2.0+", {"Apache-2.0"}, {"Apache-2.0+"}},
        {"LicenseRef-Site", {"LicenseRef-Site"}, {}},
        {"DocumentRef-a:LicenseRef-Site", {"LicenseRef-Site"}, {"DocumentRef-a:LicenseRef-Site"}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.expression);
        REQUIRE(inspect::is_license_expression(row.expression));
        CHECK(inspect::licenses_not_allowed(row.expression, row.allowed) == row.missing);
    }
}

TEST_CASE("an expression of a hundred thousand licences is judged") {
    std::string expression = "LicenseRef-0";
    for (int i = 1; i < 100'000; ++i)
        expression += " OR LicenseRef-" + std::to_string(i);
    CHECK(inspect::licenses_not_allowed(expression, {"MIT"}).size() == 100'000);
    CHECK(inspect::licenses_not_allowed(expression, {"LicenseRef-99999"}).empty());
}

TEST_CASE("a policy with licences refuses a wheel that needs another one, and holds one that states none") {
    inspect::InspectOptions options;
    options.policy.licenses = {"MIT", "BSD-3-Clause"};
    const auto judged = [&](const Names& lines) {
        WheelWriter wheel = valid_wheel();
        wheel.wrong_metadata_version_header("2.4");
        for (const std::string& line : lines)
            wheel.metadata_line(line);
        return checked(pack(wheel), options);
    };
    CHECK(judged({"License-Expression: MIT"}).outcome() == "accepted");
    CHECK(judged({"License-Expression: GPL-3.0-only OR BSD-3-Clause"}).outcome() == "accepted");
    const auto refused = judged({"License-Expression: MIT AND GPL-3.0-only"});
    CHECK(refused.outcome() == "refused");
    CHECK(refused.verdicts.front().code == "metadata.license_not_allowed");
    CHECK(refused.verdicts.front().found == "MIT AND GPL-3.0-only: not GPL-3.0-only");
    for (const Names& lines :
         {Names{}, Names{"License: MIT"}, Names{"Classifier: License :: OSI Approved :: MIT License"}}) {
        const auto held = judged(lines);
        CHECK(held.outcome() == "quarantined");
        CHECK(held.verdicts.front().code == "metadata.license_unstated");
    }
    options.policy.severities["metadata.license_unstated"] = inspect::Severity::reject;
    CHECK(judged({}).outcome() == "refused");
    options.policy.severities["metadata.license_unstated"] = inspect::Severity::ignore;
    CHECK(judged({}).outcome() == "accepted");
    options.policy.licenses.clear();
    CHECK(judged({"License-Expression: GPL-3.0-only"}).outcome() == "accepted");
}
