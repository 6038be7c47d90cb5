// Work under one name runs once, and every waiter gets one answer, also after an exception, a refusal or the end of the pool.
#include "registry/upstream/shared_work.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

using wheelyard::registry::SharedWork;

namespace {

// Work that runs until it is let go. Declared before the pool, as all that its threads touch: they end with the pool.
struct Gate {
    std::promise<void> opened;
    std::shared_future<void> open = opened.get_future().share();
    std::promise<void> entered;
};

}  // namespace

TEST_CASE("work that many wait for runs once, and again for those who come after it") {
    Gate gate;
    std::atomic<int> runs = 0;
    std::atomic<int> answers = 0;
    std::promise<bool> last;
    std::promise<bool> later;
    SharedWork pool(2, 10, 1);
    const auto then = [&](bool ran) { answers += ran ? 1 : 0; };
    pool.start(
        "a", {"one"},
        [&] {
            ++runs;
            gate.entered.set_value();
            gate.open.wait();
        },
        then);
    gate.entered.get_future().wait();
    for (int i = 0; i < 63; ++i)
        pool.start(
            "a", {"one"}, [&] { ++runs; }, then);
    pool.start(
        "a", {"one"}, [&] { ++runs; }, [&](bool ran) { last.set_value(ran); });
    gate.opened.set_value();
    CHECK(last.get_future().get());
    CHECK(runs == 1);
    CHECK(answers == 64);
    pool.start(
        "a", {"one"}, [&] { ++runs; }, [&](bool ran) { later.set_value(ran); });
    CHECK(later.get_future().get());
    CHECK(runs == 2);
}

TEST_CASE("work that throws answers its waiters, and the pool goes on") {
    std::array<std::promise<bool>, 2> answered;
    SharedWork pool(1, 10, 1);
    for (std::promise<bool>& answer : answered) {
        pool.start(
            "a", {"one"}, [] { throw std::runtime_error("broken"); },
            [&answer](bool ran) { answer.set_value(ran); });
        CHECK(answer.get_future().get());
    }
}

TEST_CASE("beyond the limit work is refused at once, and the end of the pool answers every waiter") {
    Gate gate;
    std::atomic<int> refused = 0;
    std::atomic<int> answered = 0;
    std::promise<bool> first;
    {
        SharedWork pool(1, 2, 1);
        pool.start(
            "running", {"one"},
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
                name, {"one"}, [] {}, count);
        CHECK(refused == 1);
        CHECK(pool.waiting() == 2);
        pool.start(
            "b", {"one"}, [] {}, count);  // joins the one that waits
        CHECK(refused == 1);
        std::thread opener([&] { gate.opened.set_value(); });
        opener.join();
    }
    CHECK(first.get_future().get());
    CHECK(answered == 4);  // each once, run or not
}

TEST_CASE("of two owners, a slow one has half of the threads and half of the waiting places") {
    Gate gate;
    std::atomic<int> of_slow = 0;
    std::atomic<int> refused = 0;
    std::promise<bool> both_run;
    std::array<std::promise<bool>, 10> good;
    std::promise<bool> last;
    SharedWork pool(4, 6, 2);
    for (const char* name : {"a", "b", "c", "d", "e", "f"})
        pool.start(
            name, {"slow"},
            [&] {
                if (++of_slow == 2) both_run.set_value(true);
                gate.open.wait();
            },
            [&](bool ran) { refused += ran ? 0 : 1; });
    both_run.get_future().wait();
    for (std::size_t i = 0; i < good.size(); ++i) {
        pool.start(
            "good " + std::to_string(i), {"good"}, [] {}, [&, i](bool ran) { good[i].set_value(ran); });
        CHECK(good[i].get_future().get());
    }
    CHECK(of_slow == 2);
    CHECK(pool.waiting() <= 3);
    CHECK(refused >= 1);  // 2 at work, 3 that wait, and one more
    gate.opened.set_value();
    while (pool.waiting() > 0)
        std::this_thread::yield();
    pool.start(
        "last", {"slow"}, [] {}, [&](bool ran) { last.set_value(ran); });
    CHECK(last.get_future().get());
}

TEST_CASE("one client leaves a quarter of the threads and of the waiting places to the others") {
    Gate gate;
    std::atomic<int> of_greedy = 0;
    std::atomic<int> refused = 0;
    std::promise<void> three_run;
    std::promise<bool> good;
    std::promise<bool> last;
    SharedWork pool(4, 8, 1);
    for (int i = 0; i < 12; ++i)
        pool.start(
            "greedy " + std::to_string(i), {"one", "192.0.2.1"},
            [&] {
                if (++of_greedy == 3) three_run.set_value();
                gate.open.wait();
            },
            [&](bool ran) { refused += ran ? 0 : 1; });
    three_run.get_future().wait();
    pool.start(
        "good", {"one", "192.0.2.2"}, [] {}, [&](bool ran) { good.set_value(ran); });
    CHECK(good.get_future().get());
    CHECK(of_greedy == 3);
    CHECK(pool.waiting() <= 6);
    CHECK(refused >= 3);  // 3 at work, 6 that wait
    gate.opened.set_value();
    while (pool.waiting() > 0)
        std::this_thread::yield();
    pool.start(
        "last", {"one", "192.0.2.1"}, [] {}, [&](bool ran) { last.set_value(ran); });
    CHECK(last.get_future().get());
}

TEST_CASE("running work answers those who wait so far, who may wait again for its end") {
    Gate gate;
    std::atomic<int> runs = 0;
    std::promise<void> early;
    std::promise<void> again;
    SharedWork pool(1, 10, 1);
    const auto run = [&] {
        ++runs;
        gate.open.wait();
        pool.answer_waiters("a");
    };
    pool.start("a", {"one"}, run, [&](bool) {
        early.set_value();
        pool.start("a", {"one"}, run, [&](bool) { again.set_value(); });
    });
    gate.opened.set_value();
    early.get_future().wait();
    again.get_future().wait();
    CHECK(runs == 1);
    pool.answer_waiters("no such work");
}
