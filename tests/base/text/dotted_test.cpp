#include "lib/base/text/dotted.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using base::Dotted;

TEST_CASE("dotted numbers compare number by number") {
    const char* sorted[] = {"2.3", "2.17", "2.36", "3", "450.80.02", "525.60.13", "525.105.17"};
    for (std::size_t i = 1; i < std::size(sorted); ++i)
        CHECK(*Dotted::parse(sorted[i - 1]) < *Dotted::parse(sorted[i]));
    CHECK(*Dotted::parse("12") == *Dotted::parse("12.0"));
    CHECK(Dotted::parse("550.54.15")->text() == "550.54.15");
    for (const char* bad : {"", ".", "2.", "2.x", "-1", "1.2.3.4.5.6.7", "99999999"})
        CHECK_FALSE(Dotted::parse(bad));
}
