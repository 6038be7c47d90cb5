// Rendering of errors, errno names and the early-return macros.
#include "lib/base/result.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace wheelyard::base;

TEST_CASE("a sentence of a server ends before its value, not with two marks") {
    CHECK(Error{"a.b", "There is no index.", "main", "list them"}.text() ==
          "There is no index: `main` (list them)");
    CHECK(Error{"a.b", "There is no index."}.text() == "There is no index.");
}

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
    for (const int of_typed_path : {EACCES, EEXIST, ENOENT, ENOTDIR, EROFS})
        CHECK_FALSE(fail_errno("open", "x", of_typed_path).value().advice.empty());
    CHECK(fail_errno("open", "x", ENOENT).value().code == "os.ENOENT");
    CHECK(fail_errno("open", "x", 4095).value().code == "os.errno_4095");
}

TEST_CASE("a system error keeps its number, and may pass but for what no waiting changes") {
    for (const int number : {ENOENT, ENOSPC, EIO, EAGAIN, 4095}) {
        const auto error = fail_errno("open", "x", number).value();
        CAPTURE(number);
        CHECK(error.os_error == number);
        CHECK(error.recovery == Recovery::retry);
        CHECK(error.may_pass());
    }
    for (const int number : {EISDIR, ELOOP, ENAMETOOLONG}) {
        const auto error = fail_errno("open", "x", number).value();
        CAPTURE(number);
        CHECK(error.os_error == number);
        CHECK(error.recovery == Recovery::never);
        CHECK_FALSE(error.may_pass());
    }
}

TEST_CASE("an error is of no kind and final unless it says otherwise") {
    const auto plain = fail("a.b", "it broke").value();
    CHECK(plain.kind == ErrorKind::other);
    CHECK(plain.os_error == 0);
    CHECK_FALSE(plain.may_pass());
    const auto broken = fail_malformed("a.b", "it broke", "x", "repair it").value();
    CHECK(broken.kind == ErrorKind::malformed);
    CHECK_FALSE(broken.may_pass());
    CHECK(broken.text() == "it broke: `x` (repair it)");
    CHECK(fail_for_now("a.b", "it broke").value().may_pass());
    const auto busy = fail_as(ErrorKind::busy, Recovery::retry, {"a.b", "it broke"}).value();
    CHECK(busy.kind == ErrorKind::busy);
    CHECK(busy.may_pass());
}

TEST_CASE("an error that is handed on keeps what callers act on") {
    const auto inner = [] { return Status(fail_errno("open", "x", ENOENT)); };
    const auto outer = [&]() -> Result<int> {
        WHEELYARD_TRY(inner());
        return 1;
    };
    CHECK(outer().error().os_error == ENOENT);
    CHECK(outer().error().recovery == Recovery::retry);
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
