// Valid forms of .dist-info, licences, .data folders and RECORD that real tools write.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <doctest/doctest.h>

#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

namespace {

void check_clean(const WheelWriter& wheel, const std::string& filename) {
    for (const auto& verdict : checked({wheel.bytes(), filename}).verdicts)
        CHECK_MESSAGE(false, verdict.text());
}
void check_clean(const WheelWriter& wheel) {
    check_clean(wheel, wheel.filename());
}

}  // namespace

TEST_CASE("names compare normalised, versions as parsed versions") {
    WheelWriter wheel("foo_bar", "1.0");
    wheel.add("foo.py", "1")
        .wrong_metadata_name("Foo.Bar")
        .wrong_metadata_version("1.0.0")
        .dist_info_name("Foo_Bar-1.0.dist-info");
    check_clean(wheel);
}

TEST_CASE("a .dist-info deeper in the tree belongs to a vendored package") {
    check_clean(valid_wheel().add("six/_vendor/other-1.0.dist-info/METADATA", "Name: other\n"));
}

TEST_CASE("licence files are expected where metadata 2.4 defines, and not checked before 2.4") {
    check_clean(valid_wheel()
                    .wrong_metadata_version_header("2.4")
                    .metadata_line("License-Expression: MIT")
                    .metadata_line("License-File: LICENSE")
                    .metadata_line("License-File: vendored/COPYING")
                    .dist_info("licenses/LICENSE", "free")
                    .dist_info("licenses/vendored/COPYING", "free"));
    check_clean(valid_wheel().metadata_line("License-File: LICENSE"));
}

TEST_CASE("all schemes of .data are accepted") {
    WheelWriter wheel = valid_wheel();
    for (const std::string scheme : {"purelib", "headers", "scripts", "data"})
        wheel.add("six-1.16.0.data/" + scheme + "/file", scheme);
    check_clean(wheel.add("six-1.16.0.data/platlib/other", "1"));
}

TEST_CASE("a build tag in both places or in neither is accepted") {
    check_clean(valid_wheel().build("2"));
    check_clean(valid_wheel().build("1local"));
}

TEST_CASE("documents in .dist-info/sboms are accepted (PEP 770)") {
    check_clean(valid_wheel()
                    .dist_info("sboms/auditwheel.cdx.json", R"({"bomFormat":"CycloneDX"})")
                    .dist_info("sboms/vendored/openssl.spdx.json", R"({"spdxVersion":"SPDX-2.3"})"));
}

TEST_CASE("names with commas and quotes are quoted correctly in RECORD") {
    check_clean(valid_wheel().add("six_data/a,b.txt", "1"));
}

TEST_CASE("tags in any order are the same set") {
    WheelWriter wheel = valid_wheel();
    wheel.tag("py2.py3-none-any").wrong_wheel_tags({"py3-none-any", "py2-none-any"});
    check_clean(wheel);
}

TEST_CASE("each missing or invalid member is reported") {
    WheelWriter wheel = valid_wheel();
    wheel.wrong_record_hash("six.py").wrong_record_hash("six_data/table.txt");
    const auto verdicts = checked(pack(wheel)).verdicts;
    REQUIRE(verdicts.size() == 2);
    CHECK(verdicts[0].member == "six.py");
    CHECK(verdicts[1].member == "six_data/table.txt");
    CHECK(verdicts[0].expected.starts_with("sha256="));
    CHECK(verdicts[0].expected != verdicts[0].found);
}
