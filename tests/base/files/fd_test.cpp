// Ownership of file descriptors.
#include "lib/base/files/fd.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

using wheelyard::base::Fd;

namespace {

bool is_open(int number) {
    return ::fcntl(number, F_GETFD) >= 0;
}

}  // namespace

TEST_CASE("a descriptor is closed once, by its last owner") {
    int number = -1;
    {
        Fd first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        number = first.get();
        REQUIRE(first);
        Fd second(std::move(first));
        CHECK_FALSE(first);
        CHECK(second.get() == number);
        Fd third(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        const int replaced = third.get();
        third = std::move(second);
        CHECK_FALSE(is_open(replaced));
        CHECK(is_open(number));
    }
    CHECK_FALSE(is_open(number));
}
