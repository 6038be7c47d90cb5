// The last part of a path.
#include "lib/base/text/text.hpp"

#include <doctest/doctest.h>

#include <utility>

using wheelyard::base::base_name;

TEST_CASE("a base name is what follows the last slash, or the whole text") {
    for (const auto& [path, name] :
         {std::pair("/usr/bin/gcc", "gcc"), {"gcc", "gcc"}, {"bin/", ""}, {"", ""}})
        CHECK(base_name(path) == name);
}
