// The syntax of METADATA's fields, and valid values from real projects.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

void check_clean(WheelWriter wheel, const std::string& version, const std::vector<std::string>& lines) {
    wheel.wrong_metadata_version_header(version);
    for (const std::string& line : lines)
        wheel.metadata_line(line);
    for (const auto& verdict : checked(pack(wheel)).verdicts)
        CHECK_MESSAGE(false, verdict.text());
}

}  // namespace

TEST_CASE("content types that indexes render are accepted") {
    for (const char* text :
         {"text/markdown", "text/x-rst; charset=UTF-8", "text/markdown; charset=utf-8; variant=GFM",
          "text/plain;charset=\"UTF-8\"", "Text/Markdown"}) {
        CAPTURE(text);
        CHECK(inspect::is_content_type(text));
    }
    for (const char* text : {"", "markdown", "text/html", "text/markdown; charset=latin-1",
                             "text/markdown; variant=Pandoc", "text/x-rst; charset"}) {
        CAPTURE(text);
        CHECK_FALSE(inspect::is_content_type(text));
    }
}

TEST_CASE("importable names are accepted") {
    for (const char* text : {"six", "a.b_c.d1", "_private", "six ; private", "\xc3\xbc"}) {
        CAPTURE(text);
        CHECK(inspect::is_import_name(text));
    }
    for (const char* text : {"six.class_", "klass", "true", "match", "type"}) {
        CAPTURE(text);
        CHECK(inspect::is_import_name(text));
    }
    for (const char* text : {"", "1six", "a..b", "a-b", ".a", "six; public", "a b", "class", "six.import",
                             "None", "a.async.b"}) {
        CAPTURE(text);
        CHECK_FALSE(inspect::is_import_name(text));
    }
}

TEST_CASE("METADATA of real backends has no findings in its version of the format") {
    check_clean(valid_wheel(), "1.0", {"Platform: any"});
    check_clean(valid_wheel(), "1.2",
                {"Requires-Dist: botocore (==1.11.0)", "Project-URL: Home, https://example.org"});
    check_clean(valid_wheel(), "2.1",
                {"Provides-Extra: Test_Extra", "Requires-Dist: numpy>=1.2; extra == 'Test_Extra'",
                 "Description-Content-Type: text/markdown", "License-File: LICENSE",
                 "Requires-Dist: pip @ https://example.org/pip.zip"});
    check_clean(valid_wheel(), "2.3", {"Provides-Extra: test-extra"});
    check_clean(valid_wheel(), "2.5",
                {"Import-Name: six", "Import-Namespace: six_data", "License-Expression: MIT"});
    check_clean(valid_wheel(), "2.5", {"Import-Name:"});
    check_clean(valid_wheel(), "2.6", {});
}

TEST_CASE("a name in both import fields, and an empty name with others, are reported") {
    for (const std::vector<std::string>& lines :
         {std::vector<std::string>{"Import-Name: six", "Import-Namespace: six"},
          std::vector<std::string>{"Import-Name:", "Import-Name: six"}}) {
        WheelWriter wheel = valid_wheel();
        wheel.wrong_metadata_version_header("2.5");
        for (const std::string& line : lines)
            wheel.metadata_line(line);
        const auto verdicts = checked(pack(wheel)).verdicts;
        REQUIRE(verdicts.size() == 1);
        CHECK(verdicts.front().code == "metadata.import_invalid");
    }
}
