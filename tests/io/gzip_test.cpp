#include "lib/io/gzip.hpp"

#include <doctest/doctest.h>

#include <string>

namespace wheelyard::io {

TEST_CASE("gzip is deterministic and compresses a page well") {
    std::string page;
    for (int i = 0; i < 1000; ++i)
        page.append("<a href=\"../files/").append(std::to_string(i)).append("\">six</a>\n");
    const auto once = gzip(page);
    REQUIRE(once.has_value());
    CHECK(once->starts_with("\x1f\x8b\x08"));
    CHECK(once->substr(4, 4) == std::string(4, '\0'));  // no timestamp
    CHECK(once->size() * 4 < page.size());
    CHECK(gzip(page).value() == *once);
    CHECK(gzip("").has_value());
}

TEST_CASE("compressed text is decompressed, and anything else is rejected") {
    const std::string page(100'000, 'x');
    const std::string compressed = gzip(page).value();
    CHECK(gunzip(compressed, page.size()).value() == page);
    CHECK(gunzip(gzip("").value(), 0).value().empty());
    CHECK(gunzip(compressed, page.size() - 1).error().code == "gzip.too_large");
    for (const std::string& bad : {std::string(), std::string("no gzip"),
                                   compressed.substr(0, compressed.size() - 1), compressed + "x"})
        CHECK(gunzip(bad, page.size()).error().code == "gzip.damaged");
}

}  // namespace wheelyard::io
