#include "indexer/wheel_list/wheel_list_keeper.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

// An update that blocks until it is released, and counts its calls.
struct HeldUpdate {
    std::mutex mutex;
    std::condition_variable changed;
    int begun = 0;
    int ended = 0;
    bool held = true;
    bool fails = false;

    base::Status operator()() {
        std::unique_lock lock(mutex);
        ++begun;
        changed.notify_all();
        changed.wait(lock, [this] { return !held; });
        ++ended;
        changed.notify_all();
        if (fails) return base::fail("test.failed", "the disk is full");
        return {};
    }
    void wait_for_begin(int count) {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return begun >= count; });
    }
    void release() {
        const std::lock_guard lock(mutex);
        held = false;
        changed.notify_all();
    }
};

}  // namespace

TEST_CASE("any number of requests during an update cause one more update") {
    HeldUpdate update;
    {
        WheelListKeeper keeper([&] { return update(); });
        keeper.want();
        update.wait_for_begin(1);
        for (int i = 0; i < 5; ++i)
            keeper.want();
        update.release();
    }
    CHECK(update.ended == 2);  // requested updates finish before shutdown
}

TEST_CASE("a failed update is retried automatically, but does not delay shutdown") {
    HeldUpdate update;
    update.held = false;
    update.fails = true;
    {
        WheelListKeeper keeper([&] { return update(); }, 1);
        keeper.want();
        update.wait_for_begin(3);
    }
    CHECK(update.ended >= 3);
}

TEST_CASE("nothing runs before the first request") {
    HeldUpdate update;
    {
        const WheelListKeeper keeper([&] { return update(); });
    }
    CHECK(update.begun == 0);
}
