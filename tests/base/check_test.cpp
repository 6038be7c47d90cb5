// Broken invariants throw.
#include "lib/base/check.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

TEST_CASE(
    "a broken invariant throws std::logic_error with its expression and location; a valid one does nothing") {
    CHECK_NOTHROW(WHEELYARD_CHECK(1 + 1 == 2));
    try {
        WHEELYARD_CHECK(1 + 1 == 3);
        FAIL("no exception was thrown");
    } catch (const std::logic_error& error) {
        CHECK(std::string(error.what()).find("1 + 1 == 3") != std::string::npos);
        CHECK(std::string(error.what()).find("check_test.cpp") != std::string::npos);
    }
}
