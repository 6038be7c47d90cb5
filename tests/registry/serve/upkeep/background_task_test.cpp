// Work in the background: repeated, never killed by an exception, and stopped in the middle of a sleep.
#include "registry/serve/upkeep/background_task.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>

using namespace wheelyard;

TEST_CASE("work is repeated, also after it has thrown") {
    std::atomic<int> runs = 0;
    std::promise<void> third;
    registry::BackgroundTask task(0, 1, [&](base::Clock&) {
        const int run = ++runs;
        if (run == 3) third.set_value();
        throw std::runtime_error("no memory");
    });
    CHECK(third.get_future().wait_for(std::chrono::seconds(60)) == std::future_status::ready);
}

TEST_CASE("the end of a task ends its sleeps") {
    std::promise<void> sleeping;
    bool was_stopping = false;
    {
        registry::BackgroundTask* self = nullptr;
        std::promise<void> made;
        auto is_made = made.get_future();
        registry::BackgroundTask task(0, 3'600'000, [&](base::Clock& clock) {
            is_made.wait();
            sleeping.set_value();
            clock.sleep_ms(3'600'000);  // longer than ctest waits for the test
            was_stopping = self->is_stopping();
        });
        self = &task;
        made.set_value();
        sleeping.get_future().wait();
    }
    CHECK(was_stopping);
}
