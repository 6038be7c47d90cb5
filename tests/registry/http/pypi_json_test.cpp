// PyPI's JSON form of a project, with wheels and source distributions.
#include "registry/http/pypi_json.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard;

namespace {

std::string file(const std::string& filename, const std::string& more = {}) {
    const std::string sha256(64, 'a');
    return R"({"filename":")" + filename + R"(","url":"../../files/aa/)" + sha256 + "/" + filename +
           R"(","hashes":{"sha256":")" + sha256 + R"("},"size":7)" + more + "}";
}

std::string page(const std::string& files) {
    return R"({"meta":{"api-version":"1.1"},"name":"six","files":[)" + files + "]}";
}

}  // namespace

TEST_CASE("an sdist is of the same release as the wheels of its version, and of the type sdist") {
    const auto project = http::read_pypi_project(
        page(file("six-1.0-py3-none-any.whl") + "," + file("six-1.0.tar.gz") + "," + file("six-1.1.tar.gz")),
        "");
    REQUIRE_MESSAGE(project.has_value(), project.error().text());
    CHECK(project->version == "1.1");
    REQUIRE(project->releases.size() == 2);
    CHECK(project->releases.front().second.size() == 2);
    const auto json =
        io::parse_json(http::render_pypi_json(*project, "Metadata-Version: 2.1\nName: six\nVersion: 1.1\n",
                                              {.base_url = "https://wheels.example", .index = "main"}))
            .value();
    const auto* urls = json.find("urls");
    REQUIRE(urls != nullptr);
    REQUIRE(urls->as_array()->size() == 1);
    const io::Json& sdist = urls->as_array()->front();
    CHECK(sdist.string_or("packagetype", "") == "sdist");
    CHECK(sdist.string_or("python_version", "") == "source");
    CHECK(sdist.string_or("url", "") ==
          "https://wheels.example/packages/main/aa/" + std::string(64, 'a') + "/six-1.1.tar.gz");
    const io::Json* digests = sdist.find("digests");
    REQUIRE(digests != nullptr);
    CHECK(digests->string_or("sha256", "") == std::string(64, 'a'));
}

TEST_CASE("a yanked sdist does not make its version the newest") {
    const auto project = http::read_pypi_project(
        page(file("six-1.0-py3-none-any.whl") + "," + file("six-2.0.tar.gz", R"(,"yanked":"broken")")), "");
    CHECK(project.value().version == "1.0");
    CHECK(http::read_pypi_project(page(file("six-1.0.tar.gz")), "3.0").error().code == "pypi.no_version");
}
