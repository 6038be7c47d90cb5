// Rendering of errors, errno names and the early-return macros.
#include "lib/base/result.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace wheelyard::base;

TEST_CASE("an error prints its sentence, value and advice, and omits empty ones") {
    CHECK(Error{"a.b", "it broke"}.text() == "it broke");
    CHECK(Error{"a.b", "it broke", "x"}.text() == "it broke: `x`");
    CHECK(Error{"a.b", "it broke", "", "fix it"}.text() == "it broke (fix it)");
    CHECK(Error{"a.b", "it broke", "x", "fix it"}.text() == "it broke: `x` (fix it)");
}

TEST_CASE("a system error has a stable code, and advice where the table has some") {
    const auto full = fail_errno("write", "/data/x", ENOSPC).value();
    CHECK(full.code == "os.ENOSPC");
    CHECK(full.value == "/data/x");
    CHECK(full.sentence == "write failed: No space left on device");
    CHECK_FALSE(full.advice.empty());
    CHECK(fail_errno("open", "x", ENOENT).value().code == "os.ENOENT");
    CHECK(fail_errno("open", "x", 4095).value().code == "os.errno_4095");
}

namespace {

Result<int> half(int number) {
    if (number % 2 != 0) return fail("half.odd", "this number is odd", std::to_string(number));
    return number / 2;
}

Result<int> quarter(int number) {
    WHEELYARD_ASSIGN(const auto once, half(number));
    WHEELYARD_ASSIGN(const auto twice, half(once));
    return twice;
}

Status is_even(int number) {
    WHEELYARD_TRY(half(number));
    return {};
}

}  // namespace

TEST_CASE("the macros pass a value on and return an error unchanged") {
    CHECK(quarter(12) == 3);
    CHECK(quarter(6).error().value == "3");
    CHECK(quarter(7).error().value == "7");
    CHECK(is_even(2));
    CHECK(is_even(3).error().code == "half.odd");
}
