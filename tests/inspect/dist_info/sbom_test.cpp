// SBOMs of wheels of the public index, and what is in no wheel of it.
#include "lib/inspect/dist_info/dist_info.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;
using inspect::Component;

namespace {

std::string document(const std::string& name) {
    return base::read_file(std::string(WHEELYARD_TEST_DATA "/inspect/dist_info/data/") + name, 1 << 16)
        .value();
}

std::string code_of(const std::string& text) {
    const auto list = inspect::parse_sbom(text);
    return list ? "" : list.error().code;
}

}  // namespace

TEST_CASE(
    "the documents of auditwheel, of maturin's cargo-cyclonedx, of projects, and SPDX say what is inside") {
    const auto of = [](const char* name) { return inspect::parse_sbom(document(name)).value(); };
    CHECK(of("cryptography-50.0.2.cdx.json") ==
          std::vector<Component>{
              {"openssl", "4.0.3",
               "pkg:generic/openssl@4.0.3?download_url=https://github.com/openssl/openssl/releases/download/"
               "openssl-4.0.3/openssl-4.0.3.tar.gz",
               "325b5c806167c13b40b1ffeadfe0248197c00eccc4cf123ec1e28d2d2fd216d9"}});
    // auditwheel's first component is the wheel itself.
    CHECK(of("pillow-13.0.0.auditwheel.cdx.json") ==
          std::vector<Component>{{"libXau", "1.0.9-3.el8", "pkg:rpm/almalinux/libXau@1.0.9-3.el8", ""}});
    CHECK(of("rpds_py-2026.9.1.cdx.json") ==
          std::vector<Component>{
              {"archery", "1.2.3", "pkg:cargo/archery@1.2.3",
               "33ca55ee147b1926dbea904f50fe4902494e97bc742205abbbf10c709e43815f", "MIT"},
              {"heck", "0.5.0", "pkg:cargo/heck@0.5.0",
               "2304e00983f87ffb38b55b444b5e3b60a884b5d30c0fca7d82fe33449bbe55ea", "MIT OR Apache-2.0"}});
    CHECK(
        of("demo-1.0.spdx.json") ==
        std::vector<Component>{{"zlib", "1.2.11", "pkg:generic/zlib@1.2.11",
                                "c3e5e9fdd5004dcb542feda5ee4f0ff0744628baf8ed2dd5d66f8ca1197cb1a1", "Zlib"}});
}

TEST_CASE("nested components count, members that are unknown or of other types are passed over") {
    const auto list = inspect::parse_sbom(
        R"({"bomFormat":"CycloneDX","specVersion":"9.9","new":1,"components":[7,{"name":7},{"version":"1"},
        {"name":"a","version":2,"hashes":[{"alg":"SHA-256","content":"short"},7],"components":[{"name":"b"}]}]})");
    REQUIRE(list);
    CHECK(*list == std::vector<Component>{{"a", "", "", ""}, {"b", "", "", ""}});
    CHECK(inspect::parse_sbom(R"({"bomFormat":"CycloneDX","components":{}})")->empty());
    CHECK(code_of("{not json") == "sbom.unreadable");
    CHECK(code_of(std::string(40, '[')) == "sbom.unreadable");
    CHECK(code_of("{}") == "sbom.unknown");
    CHECK(code_of("[]") == "sbom.unknown");
    CHECK(code_of(R"({"@context":"https://spdx.org/rdf/3.0.1/spdx-context.jsonld","@graph":[]})") ==
          "sbom.unknown");
}

TEST_CASE("a component has the licence that CycloneDX or SPDX states, cut at the limit") {
    const auto license_of = [](const std::string& text) {
        const auto list = inspect::parse_sbom(text);
        return list && list->size() == 1 ? list->front().license : "no component";
    };
    const auto cyclonedx = [&](const std::string& licenses) {
        return license_of(R"({"bomFormat":"CycloneDX","components":[{"name":"a","licenses":)" + licenses +
                          "}]}");
    };
    CHECK(cyclonedx(R"([{"license":{"id":"MIT"}},{"license":{"name":"Our own"}},7,{"license":7},{}])") ==
          "MIT, Our own");
    CHECK(cyclonedx(R"([{"expression":"MIT OR Apache-2.0"}])") == "MIT OR Apache-2.0");
    CHECK(cyclonedx("{}") == "");
    const std::string full(inspect::max_sbom_license, 'x');
    const auto named = [&](const std::string& name) {
        return cyclonedx(R"([{"license":{"name":")" + name + R"("}}])");
    };
    CHECK(named(full) == full);
    CHECK(named(full + "x") == full + "…");
    CHECK(named(full.substr(1) + "é") == full.substr(1) + "…");
    const auto spdx = [&](const std::string& members) {
        return license_of(R"({"spdxVersion":"SPDX-2.3","packages":[{"name":"a")" + members + "}]}");
    };
    CHECK(spdx(R"(,"licenseConcluded":"MIT","licenseDeclared":"Zlib")") == "MIT");
    CHECK(spdx(R"(,"licenseConcluded":"NOASSERTION","licenseDeclared":"Zlib")") == "Zlib");
    CHECK(spdx(R"(,"licenseConcluded":"NONE","licenseDeclared":"Zlib")") == "NONE");
    CHECK(spdx(R"(,"licenseConcluded":7,"licenseDeclared":"NOASSERTION")") == "");
    CHECK(spdx("") == "");
}

TEST_CASE(
    "a wheel has the components of all its SBOMs, within the limits, and none is a reason to refuse it") {
    WheelWriter wheel = valid_wheel();
    wheel.dist_info("sboms/a.cdx.json", document("cryptography-50.0.2.cdx.json"))
        .dist_info("sboms/b.spdx.json", document("demo-1.0.spdx.json"))
        .dist_info("sboms/c.cdx.json", document("cryptography-50.0.2.cdx.json"))
        .dist_info("sboms/damaged.json", "{")
        .dist_info("sboms/other.xml", "<bom/>");
    const auto inspection = checked({wheel.bytes(), wheel.filename()});
    CHECK(inspection.accepted());
    REQUIRE(inspection.facts.components.list.size() == 2);
    CHECK(inspection.facts.components.list[0].name == "openssl");
    CHECK(inspection.facts.components.list[1].name == "zlib");
    REQUIRE(inspection.verdicts.size() == 2);
    CHECK(inspection.verdicts[0].code == "sbom.unreadable");
    CHECK(inspection.verdicts[0].severity == inspect::Severity::warn);
    CHECK(inspection.verdicts[1].code == "sbom.unknown");

    std::string many = R"({"bomFormat":"CycloneDX","components":[)";
    for (int i = 0; i < 1000; ++i)
        many += (i == 0 ? "" : ",") + std::string(R"({"name":"p)") + std::to_string(1000 + i) + R"("})";
    WheelWriter large = valid_wheel();
    large.dist_info("sboms/a.json", many + "]}");
    const auto components = checked({large.bytes(), large.filename()}).facts.components;
    CHECK(components.list.size() == inspect::max_sbom_components);
    CHECK(components.left_out == 1000 - inspect::max_sbom_components);
    WheelWriter long_name = valid_wheel();
    long_name.dist_info("sboms/a.json", R"({"bomFormat":"CycloneDX","components":[{"name":")" +
                                            std::string(inspect::max_sbom_bytes + 1, 'x') + R"("}]})");
    const auto none = checked({long_name.bytes(), long_name.filename()}).facts.components;
    CHECK(none.list.empty());
    CHECK(none.left_out == 1);
}
