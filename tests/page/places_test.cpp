// Whatever has to name each folder with pages does so: a new row of the table fails here until it does.
#include "lib/page/places.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

using namespace wheelyard;

namespace {

std::string source(const std::string& path) {
    constexpr std::uint64_t limit = 1u << 20;
    const auto text = base::read_file(std::string(WHEELYARD_TEST_DATA) + "/../" + path, limit);
    REQUIRE(text.has_value());
    return *text;
}

}  // namespace

TEST_CASE("the configuration of nginx, the test of private indexes and the documents name each page") {
    std::vector<std::string> folders;
    std::vector<std::string> addresses;
    for (const page::Place& place : page::places) {
        const std::string folder = "/{index}/" + std::string(place.folder) + "/";
        folders.emplace_back(place.folder);
        addresses.push_back(folder);
        for (const std::string_view file : place.files)
            addresses.push_back(folder + std::string(file));
        if (place.has_projects()) addresses.push_back(folder + "{project}/");
        for (const std::string_view file : place.project_files)
            addresses.push_back(folder + "{project}/" + std::string(file));
        for (const std::string_view file : place.site_files)
            addresses.push_back(folder + "{site}/" + std::string(file));
    }
    const std::string asked = source("tests/system/private_index_test.py");
    for (const std::string& address : addresses)
        CHECK_MESSAGE(asked.find("\"" + address + "\"") != std::string::npos, address);
    const std::string nginx = source("docs/reference/nginx-wheels.conf");
    const std::string pages = "/(?:" + base::join(folders, "|") + ")/";
    CHECK_MESSAGE(nginx.find("\"~^/(?:index\\.html)?$|^/[^/]+" + pages + "\"") != std::string::npos, pages);
    CHECK_MESSAGE(nginx.find("location ~ ^/(?:index\\.html)?$|^/[^/]+" + pages + " {") != std::string::npos,
                  pages);
    const std::string described = source("docs/reference/pages.md");
    for (const std::string& folder : folders)
        CHECK_MESSAGE(described.find("`/<index>/" + folder + "/`") != std::string::npos, folder);
}
