// The window is limited by cores, memory, descriptors and processes.
#include "builder/governor/admission/admission.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace wheelyard::governor;

TEST_CASE("the window grows with the cores") {
    WindowFacts facts;
    facts.limit_bytes = 512.0 * gib;
    facts.open_files = 1 << 20;
    for (const auto& [cores, window] :
         {std::pair{1u, 64u}, {2u, 64u}, {3u, 96u}, {8u, 256u}, {16u, 512u}, {72u, 2304u}, {288u, 4096u}}) {
        CAPTURE(cores);
        facts.cores = cores;
        CHECK(choose_window(facts) == window);
    }
}

TEST_CASE("with little memory per core the window is larger") {
    WindowFacts facts;
    facts.open_files = 1 << 20;
    facts.cores = 16;
    facts.limit_bytes = 16 * roomy_bytes_per_core;
    CHECK(choose_window(facts) == 512);
    facts.limit_bytes -= 1;
    CHECK(choose_window(facts) == 1024);
    facts.cores = 72;
    CHECK(choose_window(facts) == 2304);
}

TEST_CASE("each limit applies, and the window is never below the cores") {
    WindowFacts plenty;
    plenty.cores = 128;
    plenty.limit_bytes = 512.0 * gib;
    plenty.open_files = 1 << 20;
    CHECK(choose_window(plenty) == max_window);

    auto facts = plenty;
    facts.limit_bytes = 8.0 * gib;
    CHECK(choose_window(facts) == 8 * gib / waiting_divisor / waiting_launcher_bytes);
    facts = plenty;
    facts.open_files = 1024;
    CHECK(choose_window(facts) == 960);
    facts = plenty;
    facts.free_pids = 3000;
    CHECK(choose_window(facts) == (3000 - 64 - 6 * 128) / 2);
    facts = plenty;
    facts.user_processes = 1232;
    CHECK(choose_window(facts) == 200);
    facts.user_processes = 10;
    CHECK(choose_window(facts) == 128);
    facts = {};
    facts.open_files = 0;
    CHECK(choose_window(facts) == min_window);
}
