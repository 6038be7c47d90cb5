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

TEST_CASE("equal versions are one, as PEP 440 compares them") {
    const std::string one = page(file("six-1.0-py3-none-any.whl") + "," + file("six-2.0.0-py3-none-any.whl"));
    CHECK(http::read_pypi_project(one, "1").value().version == "1.0");
    CHECK(http::read_pypi_project(one, "2.0").value().version == "2.0.0");
    CHECK_FALSE(http::read_pypi_project(one, "1.0.1"));
}

// The members are those of https://docs.pypi.org/api/json/ (the example of sampleproject), but for `ownership`.
TEST_CASE("the document has the members of PyPI's, also where METADATA has nothing") {
    const auto project =
        http::read_pypi_project(page(file("six-1.0-py3-none-any.whl", R"(,"yanked":"broken")")), "1.0");
    REQUIRE(project.has_value());
    const auto json =
        io::parse_json(http::render_pypi_json(*project, "Metadata-Version: 2.1\nName: six\nVersion: 1.0\n",
                                              {.base_url = "https://wheels.example", .index = "main"}))
            .value();
    const io::Json* info = json.find("info");
    REQUIRE(info != nullptr);
    for (const char* member : {"author",           "author_email",
                               "bugtrack_url",     "classifiers",
                               "description",      "description_content_type",
                               "docs_url",         "download_url",
                               "downloads",        "dynamic",
                               "home_page",        "keywords",
                               "license",          "license_expression",
                               "license_files",    "maintainer",
                               "maintainer_email", "name",
                               "package_url",      "platform",
                               "project_url",      "project_urls",
                               "provides_extra",   "release_url",
                               "requires_dist",    "requires_python",
                               "summary",          "version",
                               "yanked",           "yanked_reason"})
        CHECK_MESSAGE(info->find(member) != nullptr, member);
    CHECK(info->find("classifiers")->as_array() != nullptr);
    CHECK(info->find("downloads")->int_or("last_day", 0) == -1);
    CHECK(info->string_or("yanked_reason", "") == "broken");
    CHECK(info->string_or("package_url", "") == "https://wheels.example/main/simple/six/");
    const io::Json& released = json.find("urls")->as_array()->front();
    for (const char* member : {"comment_text", "digests", "downloads", "filename", "has_sig", "md5_digest",
                               "packagetype", "python_version", "requires_python", "size", "upload_time",
                               "upload_time_iso_8601", "url", "yanked", "yanked_reason"})
        CHECK_MESSAGE(released.find(member) != nullptr, member);
    for (const char* member : {"info", "last_serial", "releases", "urls", "vulnerabilities"})
        CHECK_MESSAGE(json.find(member) != nullptr, member);
}
