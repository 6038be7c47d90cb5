// File URLs: conversion in both directions, and URLs that are not files.
#include "lib/base/text/url.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;

TEST_CASE("the file URL of any path parses and converts back to the path") {
    CHECK(file_url("/srv/simple/") == "file:///srv/simple/");
    CHECK(file_url("/my wheels/50%/f\xC3\xBCr#1+2") == "file:///my%20wheels/50%25/f%C3%BCr%231%2B2");
    CHECK(file_path(parse_url(file_url("/a?b c")).value()).value() == "/a?b c");
    CHECK(file_path(parse_url("file://localhost/a%2Fb").value()).value() == "/a/b");
}

TEST_CASE("URLs of other schemes or with a zero byte are not file paths") {
    CHECK(!file_path(parse_url("https://h/a").value()));
    CHECK(!file_path(parse_url("file:///a%00").value()));
}
