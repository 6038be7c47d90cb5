// Excerpts of untrusted text in Errors.
#include "lib/wheel/excerpt.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {

TEST_CASE("an excerpt is short, has no control characters and splits no character") {
    CHECK(excerpt("plain") == "plain");
    CHECK(excerpt("a\nb\x1B[31m\x7F") == "a?b?[31m?");
    std::string wide;
    while (wide.size() <= max_excerpt_bytes)
        wide += "a\xE2\x82\xAC";
    for (std::size_t extra = 0; extra < 4; ++extra) {
        const auto shown = excerpt(std::string(extra, 'x') + wide);
        CHECK(shown.size() <= max_excerpt_bytes + 3);
        CHECK(base::is_utf8(shown));
        CHECK(shown.ends_with("…"));
    }
}

}  // namespace wheelyard::wheel
