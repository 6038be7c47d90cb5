#include "registry/commands/advisories/advisory.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace wheelyard;

namespace {

std::string package(std::string_view purl, std::string_view version = "") {
    const auto found = advisories::package_of(purl, version);
    return found ? std::string(found->ecosystem->name) + " " + found->name + " " + found->version : "none";
}

}  // namespace

TEST_CASE("a package URL names the package that OSV has") {
    CHECK(package("pkg:pypi/Typing_Extensions@4.1.0") == "PyPI typing-extensions 4.1.0");
    CHECK(package("pkg:cargo/pyo3@0.24.0?download_url=x@y#src/lib") == "crates.io pyo3 0.24.0");
    CHECK(package("pkg:npm/%40types/node@18.0.0") == "npm @types/node 18.0.0");
    CHECK(package("pkg:npm/@types/node", "18.0.0") == "npm @types/node 18.0.0");
    CHECK(package("pkg:npm/@scoped", "1.0.0") == "npm @scoped 1.0.0");
    CHECK(package("pkg:golang/github.com/pkg/errors@v0.9.1") == "Go github.com/pkg/errors v0.9.1");
    CHECK(package("pkg:rpm/almalinux/zlib@1.2.11-25.el8", "1.0") == "AlmaLinux zlib 1.2.11-25.el8");
    CHECK(package("pkg:RPM/rocky/libgfortran@8.5.0-22.el8_10") == "Rocky Linux libgfortran 8.5.0-22.el8_10");
}

TEST_CASE("a component without such a package is none of OSV's") {
    for (const char* purl :
         {"", "zlib", "pkg:", "pkg:pypi", "pkg:pypi/", "pkg:rpm/almalinux/", "pkg:rpm/almalinuxx/zlib@1",
          "pkg:rpm/fedora/zlib@1.2.13-3.fc38", "pkg:deb/debian/libjansson4@2.14-2",
          "pkg:generic/openssl@4.0.3", "pkg:pypi/six%zz@1.0"}) {
        CAPTURE(purl);
        CHECK(package(purl) == "none");
    }
}
