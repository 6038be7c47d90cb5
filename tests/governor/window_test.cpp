// How many may wait: each limit binds in its turn.
#include "builder/governor/window.hpp"

#include <doctest/doctest.h>

#include "builder/governor/limits.hpp"

using namespace wheelyard::governor;

TEST_CASE("each limit binds in its turn, and never below the cores") {
    WindowFacts plenty;
    plenty.cores = 16;
    plenty.limit_bytes = 512.0 * gib;
    plenty.open_files = 1 << 20;
    CHECK(choose_window(plenty) == largest_window);

    auto facts = plenty;
    facts.limit_bytes = 8.0 * gib;
    CHECK(choose_window(facts) == 8 * gib / waiting_part / waiting_launcher_bytes);
    facts = plenty;
    facts.open_files = 1024;
    CHECK(choose_window(facts) == 960);
    facts = plenty;
    facts.free_pids = 1000;
    CHECK(choose_window(facts) == (1000 - 64 - 96) / 2);
    facts = plenty;
    facts.user_processes = 400;
    CHECK(choose_window(facts) == 120);
    facts.user_processes = 10;
    CHECK(choose_window(facts) == 16);
    facts = {};
    facts.open_files = 0;
    CHECK(choose_window(facts) == smallest_window);
}
