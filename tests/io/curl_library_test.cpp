// Loading libcurl: present, missing, or another library with its name.
#include "lib/io/curl_library.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

TEST_CASE("libcurl is found where the build found it, and loaded once") {
    const io::CurlLibrary* library = io::curl_library();
    REQUIRE(library != nullptr);
    CHECK(io::curl_library() == library);
    CHECK(std::string(library->easy_strerror(CURLE_OK)).size() > 1);
}

TEST_CASE("a library that is missing or is not libcurl is an error that names it") {
    const auto missing = io::load_curl("libwheelyard-none.so.4");
    REQUIRE_FALSE(missing);
    CHECK(missing.error().code == "http.library");
    CHECK(missing.error().value == "libwheelyard-none.so.4");
    const auto other = io::load_curl("libz.so.1");
    REQUIRE_FALSE(other);
    CHECK(other.error().code == "http.library");
    CHECK(other.error().value == "curl_global_init");
}
