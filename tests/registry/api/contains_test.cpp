#include "registry/api/contains.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

TEST_CASE("a distribution's epoch and revision do not change which version a component has") {
    for (const char* version :
         {"1.2.11", "1.2.11-25.el8", "1:1.2.11.dfsg-2+deb11u2", "1.2.11+dfsg", "1.2.11~rc1"}) {
        CAPTURE(version);
        CHECK(registry::is_component_version(version, "1.2.11"));
    }
    for (const char* version : {"", "1.2.110", "1.2.1", "1.2.11.1", "11.2.11", "1:1.2.110-1", "a:1.2.11"}) {
        CAPTURE(version);
        CHECK_FALSE(registry::is_component_version(version, "1.2.11"));
    }
}
