// Work under one name runs once, and every waiter gets one answer, also after an exception, a refusal or the end of the pool.
#include "registry/upstream/shared_work.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <stdexcept>

using wheelyard::registry::SharedWork;

namespace {

// Work that runs until it is let go.
struct Gate {
    std::promise<void> opened;
    std::shared_future<void> open = opened.get_future().share();
    std::promise<void> entered;
};

}  // namespace

TEST_CASE("work that many wait for runs once, and again for those who come after it") {
    SharedWork pool(2, 10);
    Gate gate;
    std::atomic<int> runs = 0;
    std::atomic<int> answers = 0;
    const auto then = [&](bool ran) { answers += ran ? 1 : 0; };
    pool.start(
        "a",
        [&] {
            ++runs;
            gate.entered.set_value();
            gate.open.wait();
        },
        then);
    gate.entered.get_future().wait();
    for (int i = 0; i < 63; ++i)
        pool.start(
            "a", [&] { ++runs; }, then);
    std::promise<bool> last;
    pool.start(
        "a", [&] { ++runs; }, [&](bool ran) { last.set_value(ran); });
    gate.opened.set_value();
    CHECK(last.get_future().get());
    CHECK(runs == 1);
    CHECK(answers == 64);
    std::promise<bool> later;
    pool.start(
        "a", [&] { ++runs; }, [&](bool ran) { later.set_value(ran); });
    CHECK(later.get_future().get());
    CHECK(runs == 2);
}

TEST_CASE("work that throws answers its waiters, and the pool goes on") {
    SharedWork pool(1, 10);
    for (const char* name : {"a", "b"}) {
        std::promise<bool> answered;
        pool.start(
            name, [] { throw std::runtime_error("broken"); }, [&](bool ran) { answered.set_value(ran); });
        CHECK(answered.get_future().get());
    }
}

TEST_CASE("beyond the limit work is refused at once, and the end of the pool answers every waiter") {
    Gate gate;
    std::atomic<int> refused = 0;
    std::atomic<int> answered = 0;
    std::promise<bool> first;
    {
        SharedWork pool(1, 2);
        pool.start(
            "running",
            [&] {
                gate.entered.set_value();
                gate.open.wait();
            },
            [&](bool ran) { first.set_value(ran); });
        gate.entered.get_future().wait();
        const auto count = [&](bool ran) {
            refused += ran ? 0 : 1;
            ++answered;
        };
        for (const char* name : {"b", "c", "d"})
            pool.start(
                name, [] {}, count);
        CHECK(refused == 1);
        CHECK(pool.waiting() == 2);
        pool.start(
            "b", [] {}, count);  // joins the one that waits
        CHECK(refused == 1);
        std::thread opener([&] { gate.opened.set_value(); });
        opener.join();
    }
    CHECK(first.get_future().get());
    CHECK(answered == 4);  // each once, run or not
}
