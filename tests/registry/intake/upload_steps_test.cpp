#include "registry/intake/upload_steps.hpp"

#include <doctest/doctest.h>

#include "tests/support/golden.hpp"

namespace wheelyard::registry {

TEST_CASE("the page on uploads has the table of their steps") {
    CHECK(test_support::part_difference("reference/upload.md", "steps", render_upload_steps()) == "");
}

}  // namespace wheelyard::registry
