#include "indexer/avail_wheels/source/source.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "tests/indexer/avail_wheels/sample_wheels.hpp"
#include "tests/support/loopback_server.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

using Texts = std::vector<std::string>;

testing::LoopbackAnswer serve_index(const testing::LoopbackRequest& request) {
    const auto page = [](const std::string& body) {
        return testing::LoopbackAnswer{200, body, {{"Content-Type", "text/html"}}};
    };
    if (request.target == "/simple/")
        return page(
            "<a href=\"netcdf4/\">netCDF4</a><a href=\"h5netcdf/\">h5netcdf</a><a href=\"six/\">six</a>");
    if (request.target == "/simple/netcdf4/") {
        return page("<a href=\"netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl#sha256=" + std::string(64, 'a') +
                    "\" data-requires-python=\"&gt;=3.8\">x</a><a href=\"netCDF4-1.5.8.tar.gz\">x</a><a "
                    "href=\"broken.whl\">x</a>");
    }
    if (request.target == "/simple/h5netcdf/")
        return page("<a href=\"h5netcdf-0.7.4-py2.py3-none-any.whl\">x</a>");
    if (request.target == "/simple/broken/") return {500, "oops"};
    return {404, "no such page"};
}

Texts targets_of(const testing::LoopbackServer& server) {
    Texts targets;
    for (const auto& request : server.requests())
        targets.push_back(request.target);
    return targets;
}

Texts names_of(const std::vector<Candidate>& candidates) {
    Texts names;
    for (const auto& candidate : candidates)
        names.push_back(candidate.arch + " " + candidate.link.filename);
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("exact names fetch only their own pages") {
    testing::LoopbackServer server(serve_index);
    io::HttpClient http;
    const auto found =
        read_index(simple::page_getter(http), server.url("/simple"), make_wanted({"NetCDF4", "absent"}));
    if (!found) FAIL(found.error().text());
    CHECK(names_of(*found) == Texts{"x86_64 netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl"});
    CHECK(found->front().link.requires_python == ">=3.8");
    CHECK(targets_of(server) == Texts{"/simple/absent/", "/simple/netcdf4/"});
}

TEST_CASE("a glob reads the root once, then the matching pages") {
    testing::LoopbackServer server(serve_index);
    io::HttpClient http;
    const auto found =
        read_index(simple::page_getter(http), server.url("/simple/"), make_wanted({"*cdf*", "netcdf4"}));
    REQUIRE(found);
    CHECK(names_of(*found) == Texts{"generic h5netcdf-0.7.4-py2.py3-none-any.whl",
                                    "x86_64 netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl"});
    CHECK(targets_of(server) == Texts{"/simple/", "/simple/h5netcdf/", "/simple/netcdf4/"});
}

TEST_CASE("a failing index is an error, not an empty list") {
    testing::LoopbackServer server(serve_index);
    io::HttpClient http;
    const auto found = read_index(simple::page_getter(http), server.url("/simple/"), make_wanted({"broken"}));
    REQUIRE(!found);
    CHECK(found.error().code == "simple.http");
}

TEST_CASE("a wheelhouse is read recursively, and architecture folders set the architecture") {
    const auto folder = *base::TempDir::make("wheelyard-wheelhouse-test");
    const auto put = [&](const std::string& path) {
        std::filesystem::create_directories((folder.path() / path).parent_path());
        REQUIRE(base::replace_file(folder.path() / path, "wheel"));
    };
    put("six-1.16.0-py2.py3-none-any.whl");
    put("generic/tabulate-0.8.10-py3-none-any.whl");
    put("gentoo2023/x86-64-v3/numpy-2.1.0-cp312-cp312-linux_x86_64.whl");
    put("avx2/old/netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl");
    put("torch/torch-2.4.0-cp312-cp312-linux_aarch64.whl");
    put("torch/torch-2.4.0.tar.gz");
    put("torch/not a wheel.whl");
    put(".hidden/six-1.17.0-py2.py3-none-any.whl");
    const auto found = read_wheelhouse(folder.path(), make_wanted({"*"}));
    if (!found) FAIL(found.error().text());
    CHECK(names_of(*found) == Texts{"aarch64 torch-2.4.0-cp312-cp312-linux_aarch64.whl",
                                    "avx2 netCDF4-1.5.8-cp39-cp39-linux_x86_64.whl",
                                    "generic six-1.16.0-py2.py3-none-any.whl",
                                    "generic tabulate-0.8.10-py3-none-any.whl",
                                    "x86-64-v3 numpy-2.1.0-cp312-cp312-linux_x86_64.whl"});
    CHECK(names_of(*read_wheelhouse(folder.path(), make_wanted({"num*"}))) ==
          Texts{"x86-64-v3 numpy-2.1.0-cp312-cp312-linux_x86_64.whl"});
}

TEST_CASE("find-links are read one level deep, and their own name is the architecture") {
    const auto folder = *base::TempDir::make("wheelyard-wheelhouse-test");
    for (const char* path :
         {"avx2/numpy-2.1.0-cp312-cp312-linux_x86_64.whl", "avx2/old/numpy-1.0-py3-none-any.whl",
          "generic/six-1.16.0-py2.py3-none-any.whl", "avx512/numpy-2.2.0-cp312-cp312-linux_x86_64.whl"}) {
        std::filesystem::create_directories((folder.path() / path).parent_path());
        REQUIRE(base::replace_file(folder.path() / path, "wheel"));
    }
    const auto found =
        read_find_links({folder.path() / "avx2", folder.path() / "generic/"}, make_wanted({"*"}));
    if (!found) FAIL(found.error().text());
    CHECK(names_of(*found) ==
          Texts{"avx2 numpy-2.1.0-cp312-cp312-linux_x86_64.whl", "generic six-1.16.0-py2.py3-none-any.whl"});
    CHECK(!read_find_links({folder.path() / "sse3"}, make_wanted({"*"})));
}

TEST_CASE("a missing wheelhouse gives an error with its name") {
    const auto found = read_wheelhouse("/nowhere/wheels", make_wanted({"*"}));
    REQUIRE(!found);
    CHECK(found.error().value.find("/nowhere/wheels") != std::string::npos);
}
