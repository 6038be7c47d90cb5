// What a terminal can show
#include "lib/base/process/terminal.hpp"

#include <doctest/doctest.h>
#include <pty.h>
#include <unistd.h>

using namespace wheelyard;

TEST_CASE("a terminal has its columns, the usual ones if it does not say, and anything else no limit") {
    int ours = -1;
    int terminal = -1;
    REQUIRE(::openpty(&ours, &terminal, nullptr, nullptr, nullptr) == 0);
    CHECK(base::terminal_columns(terminal) == base::default_columns);
    winsize size{};
    size.ws_col = 132;
    REQUIRE(::ioctl(terminal, TIOCSWINSZ, &size) == 0);
    CHECK(base::terminal_columns(terminal) == 132);
    ::close(ours);
    ::close(terminal);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    CHECK(base::terminal_columns(ends[1]) == 0);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("no colours where NO_COLOR is not empty, nor on a dumb terminal") {
    CHECK(base::allows_colour({}));
    CHECK(base::allows_colour({{"NO_COLOR", ""}, {"TERM", "xterm"}}));
    CHECK(!base::allows_colour({{"NO_COLOR", "1"}}));
    CHECK(!base::allows_colour({{"TERM", "dumb"}}));
}
