#include "registry/api/derived_sbom.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;

namespace {

std::string components_of(const std::string& facts, const wire::SourceFile& source = {}) {
    catalog::FileRow row;
    row.filename = "six-1.0-py3-none-any.whl";
    row.facts_json = facts;
    wire::WheelProvenance said;
    said.source = source;
    return registry::derive_sbom(row, said).find("components")->render();
}

const std::string digest(64, 'a');
const std::string hashes = R"("hashes":[{"alg":"SHA-256","content":")" + digest + R"("}])";

}  // namespace

TEST_CASE("components have the hashes that the facts have, and only digests") {
    CHECK(components_of(R"({"sbom":[{"name":"zlib","sha256":")" + digest + R"("}]})") ==
          R"([{"type":"library","name":"zlib","properties":[{"name":"wheelyard:basis","value":"stated"}],)" +
              hashes + R"(,"bom-ref":"component-1"}])");
    const std::string proved = R"({"type":"library","name":"libz.so.1","properties":)"
                               R"([{"name":"wheelyard:basis","value":"proved"}],)";
    CHECK(components_of(R"({"provides":["libz.so.1"],"library_sha256":{"libz.so.1":")" + digest + "\"}}") ==
          "[" + proved + hashes + R"(,"bom-ref":"component-1"}])");
    // Of a wheel that came before the registry kept them, and of a value that is none.
    for (const char* facts : {R"({"provides":["libz.so.1"]})", R"({"needed":{"inside":["libz.so.1"]}})",
                              R"({"provides":["libz.so.1"],"library_sha256":{"libz.so.1":"zz"}})",
                              R"({"provides":["libz.so.1"],"library_sha256":7})"})
        CHECK(components_of(facts) == "[" + proved + R"("bom-ref":"component-1"}])");
}

TEST_CASE("the address of a source is a URI, and the commit of a Git source is its version") {
    const std::string commit(40, 'c');
    CHECK(components_of("{}", {"git", "https://example.org/a.git@v1 (" + commit + ")", "", ""})
              .find(R"("version":")" + commit +
                    R"(","externalReferences":[{"type":"vcs","url":"git+https://example.org/a.git@v1"}])") !=
          std::string::npos);
    CHECK(
        components_of("{}", {"path", "/sw/my sources", "", "none"})
            .find(
                R"("externalReferences":[{"type":"source-distribution","url":"file:///sw/my%20sources"}])") !=
        std::string::npos);
    CHECK(components_of("{}", {"path", "/sw/my sources", "", "none"}).find("hashes") == std::string::npos);
    for (const char* odd :
         {"https://x/a[b].tar.gz", "https://x/100%", "https://x/#a#b", "https://x:port/", "::"}) {
        const std::string made = components_of("{}", {"sdist", odd, "a.tar.gz", ""});
        CHECK_MESSAGE(made.find("externalReferences") == std::string::npos, made);
        CHECK_MESSAGE(made.find(R"({"name":"wheelyard:origin","value":")") != std::string::npos, made);
    }
}
