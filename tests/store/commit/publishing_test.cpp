// Uploads wait for their page: one run serves many, failures are reported and retried.
#include "lib/store/commit/publishing.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/becomes_true.hpp"

using namespace wheelyard;
using registry::PublishQueue;
using test_support::becomes_true;

namespace {

constexpr std::int64_t long_enough_ms = 60'000;

// A publisher that shows what was "committed" and can be held or made to fail.
struct FakePublisher {
    std::mutex mutex;
    std::condition_variable wake;
    catalog::Serial committed = 0;
    int runs = 0;
    bool held = false;
    int let_through = 0;  // so many of the held runs go on
    bool failing = false;
    bool fail_once = false;

    registry::PublishFunction function() {
        return [this](registry::RootPages) -> base::Result<catalog::Serial> {
            std::unique_lock lock(mutex);
            const catalog::Serial seen = committed;
            ++runs;
            wake.notify_all();
            wake.wait(lock, [this] { return !held || let_through > 0; });
            if (held) --let_through;
            if (failing || std::exchange(fail_once, false)) return base::fail("os.ENOSPC", "write failed");
            return seen;
        };
    }
    void set_committed(catalog::Serial serial) {
        const std::lock_guard lock(mutex);
        committed = serial;
    }
    void hold(bool value) {
        const std::lock_guard lock(mutex);
        held = value;
        wake.notify_all();
    }
    void wait_for_run(int number) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return runs >= number; });
    }
};

// A tree whose large root page lacks names until a run writes it.
struct FakeRoots {
    std::mutex mutex;
    std::condition_variable wake;
    catalog::Serial committed = 0;
    bool failing = false;  // the root page
    int written = 0;
    int failed = 0;

    registry::PublishFunction function() {
        return [this](registry::RootPages roots) -> base::Result<registry::Published> {
            const std::lock_guard lock(mutex);
            wake.notify_all();
            registry::Published published(committed);
            if (roots == registry::RootPages::prompt) {
                published.late_roots = 1;
                return published;
            }
            if (failing) {
                ++failed;
                return base::fail("os.EIO", "write failed");
            }
            ++written;
            return published;
        };
    }
    void commit(catalog::Serial serial) {
        const std::lock_guard lock(mutex);
        committed = serial;
    }
    void fail(bool value) {
        const std::lock_guard lock(mutex);
        failing = value;
    }
    int count(const int& of) {
        const std::lock_guard lock(mutex);
        return of;
    }
    void wait_for(const int& count, int number) {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return count >= number; });
    }
};

}  // namespace

TEST_CASE("late root pages are waited for by nobody, and one is written for all at the end") {
    FakeRoots tree;
    {
        PublishQueue queue(tree.function(), long_enough_ms, long_enough_ms);
        CHECK(queue.lag().late_roots == 0);
        for (catalog::Serial serial = 1; serial <= 3; ++serial) {
            tree.commit(serial);
            CHECK(queue.wait_until_visible(serial, long_enough_ms).has_value());
        }
        CHECK(tree.count(tree.written) == 0);
        CHECK(queue.lag().late_roots == 1);
        CHECK(queue.lag().wanted == 3);
        CHECK(queue.lag().since_ms == 0);  // no upload's page is behind
    }
    CHECK(tree.written == 1);
}

TEST_CASE("late root pages are written without being asked for") {
    FakeRoots tree;
    PublishQueue queue(tree.function(), long_enough_ms, 1);
    tree.commit(1);
    queue.want(1);
    tree.wait_for(tree.written, 1);
    CHECK(becomes_true([&] { return queue.lag().late_roots == 0; }));
    CHECK(queue.lag().roots_since_ms == 0);
}

TEST_CASE("pages that change without a commit are written without one, also if an upload comes between") {
    FakeRoots tree;
    PublishQueue queue(tree.function(), long_enough_ms, 1);
    queue.want_pages();
    tree.wait_for(tree.written, 1);
    tree.fail(true);
    queue.want_pages();
    tree.wait_for(tree.failed, 1);
    tree.fail(false);
    tree.wait_for(tree.written, 2);
}

TEST_CASE("a run without root pages does not take away the wish for pages") {
    FakePublisher publisher;  // reports no late root pages
    PublishQueue queue(publisher.function(), long_enough_ms, long_enough_ms);
    queue.want_pages();
    publisher.set_committed(1);
    REQUIRE(queue.wait_until_visible(1, long_enough_ms).has_value());
    CHECK(queue.lag().late_roots == 1);
}

TEST_CASE("a root page that cannot be written fails no upload, and is tried again") {
    FakeRoots tree;
    tree.fail(true);
    PublishQueue queue(tree.function(), long_enough_ms, 1);
    for (catalog::Serial serial = 1; serial <= 4; ++serial) {
        tree.commit(serial);
        CHECK(queue.wait_until_visible(serial, long_enough_ms).has_value());
        tree.wait_for(tree.failed, static_cast<int>(serial));
    }
    CHECK(queue.lag().late_roots == 1);
    CHECK(queue.lag().last_failure.empty());
    tree.fail(false);
    tree.wait_for(tree.written, 1);
}

TEST_CASE("a commit is visible when the wait returns, and what is visible needs no other run") {
    FakePublisher publisher;
    PublishQueue queue(publisher.function());
    publisher.set_committed(3);
    CHECK(queue.wait_until_visible(3, long_enough_ms).has_value());
    CHECK(queue.wait_until_visible(2, long_enough_ms).has_value());
    CHECK(queue.wait_until_visible(0, long_enough_ms).has_value());
    CHECK(publisher.runs == 1);
}

TEST_CASE("a commit during a run gets a run of its own; many commits share one") {
    FakePublisher publisher;
    PublishQueue queue(publisher.function());
    publisher.set_committed(1);
    publisher.hold(true);
    std::atomic<int> done = 0;
    std::vector<std::thread> uploads;
    const auto upload = [&](catalog::Serial serial) {
        uploads.emplace_back([&, serial] {
            if (queue.wait_until_visible(serial, long_enough_ms)) ++done;
        });
    };
    upload(1);
    publisher.wait_for_run(1);  // it has read serial 1
    publisher.set_committed(20);
    for (catalog::Serial serial = 2; serial <= 20; ++serial)
        upload(serial);
    while (queue.waiting() < 20)
        std::this_thread::yield();
    publisher.hold(false);
    for (std::thread& thread : uploads)
        thread.join();
    CHECK(done == 20);
    CHECK(publisher.runs == 2);  // the nineteen share the second
}

TEST_CASE(
    "what a run left behind fails those who wait for it, nobody else, and is tried again at each wait") {
    std::atomic<bool> is_repaired = false;
    PublishQueue queue(
        [&is_repaired](registry::RootPages) -> base::Result<registry::Published> {
            registry::Published published(7);
            if (!is_repaired)
                published.lagging.push_back(
                    {"main", "six", "six-1.0-py3-none-any.whl", {"publish.blob_missing", "gone"}});
            return published;
        },
        long_enough_ms);
    const registry::PageOf lagging{"main", "six", "six-1.0-py3-none-any.whl"};
    const registry::PageOf neighbour{"main", "six", "six-1.1-py3-none-any.whl"};
    const registry::PageOf other_index{"gpu", "six", "six-1.0-py3-none-any.whl"};
    CHECK(queue.wait_until_visible(7, long_enough_ms, lagging).error().code == "publish.blob_missing");
    CHECK(queue.wait_until_visible(7, long_enough_ms, neighbour).has_value());
    CHECK(queue.wait_until_visible(7, long_enough_ms, other_index).has_value());
    for (const registry::PageOf& wider :
         {registry::PageOf{"main", "six", ""}, registry::PageOf{"main", "", ""}})
        CHECK(queue.wait_until_visible(7, long_enough_ms, wider).error().code == "publish.blob_missing");
    for (const registry::PageOf& beside :
         {registry::PageOf{"main", "seven", ""}, registry::PageOf{"gpu", "", ""}})
        CHECK(queue.wait_until_visible(7, long_enough_ms, beside).has_value());
    CHECK(queue.wait_until_visible(7, long_enough_ms).has_value());
    is_repaired = true;
    CHECK(queue.wait_until_visible(7, long_enough_ms, lagging).has_value());
}

TEST_CASE("of the pages that lag, those that need a person are counted") {
    PublishQueue queue(
        [](registry::RootPages) -> base::Result<registry::Published> {
            registry::Published published(7);
            base::Error lost{"publish.blob_missing", "gone"};
            lost.recovery = base::Recovery::person;
            published.lagging.push_back({"main", "six", "six-1.0-py3-none-any.whl", lost});
            published.lagging.push_back({"main", "seven", "", {"os.EIO", "read failed"}});
            published.lagging.push_back({"main", "eight", "", {"os.EIO", "read failed"}});
            return published;
        },
        long_enough_ms);
    CHECK(queue.wait_until_visible(7, long_enough_ms).has_value());
    CHECK(queue.lag().lagging_pages == 3);
    CHECK(queue.lag().damaged_pages == 1);
}

TEST_CASE("what was left behind is tried again without being asked") {
    std::atomic<int> runs = 0;
    PublishQueue queue(
        [&runs](registry::RootPages) -> base::Result<registry::Published> {
            registry::Published published(1);
            if (++runs < 3) published.lagging.push_back({"main", "six", "", {"os.EIO", "read failed"}});
            return published;
        },
        1);
    CHECK(queue.wait_until_visible(1, long_enough_ms).has_value());
    while (runs < 3)
        std::this_thread::yield();
    CHECK(queue.wait_until_visible(1, long_enough_ms, {"main", "six", "x.whl"}).has_value());
}

TEST_CASE("a failed run is reported to its waiters, and the next wait retries") {
    FakePublisher publisher;
    publisher.failing = true;
    PublishQueue queue(publisher.function(), long_enough_ms);
    publisher.set_committed(1);
    CHECK(queue.wait_until_visible(1, long_enough_ms).error().code == "os.ENOSPC");
    CHECK(publisher.runs == 1);  // no circle
    CHECK(queue.wait_until_visible(1, long_enough_ms).error().code == "os.ENOSPC");
    {
        const std::lock_guard lock(publisher.mutex);
        publisher.failing = false;
    }
    CHECK(queue.wait_until_visible(1, long_enough_ms).has_value());
}

TEST_CASE("a failure of a run that began before a commit is not that commit's") {
    FakePublisher publisher;
    publisher.failing = true;
    publisher.hold(true);
    PublishQueue queue(publisher.function());
    publisher.set_committed(1);
    base::Status first;
    base::Status second;
    std::thread one([&] { first = queue.wait_until_visible(1, long_enough_ms); });
    publisher.wait_for_run(1);
    publisher.set_committed(2);
    std::thread two([&] { second = queue.wait_until_visible(2, long_enough_ms); });
    while (queue.waiting() < 2)
        std::this_thread::yield();
    {
        const std::lock_guard lock(publisher.mutex);
        publisher.fail_once = true;
        publisher.failing = false;
        publisher.let_through = 1;
        publisher.wake.notify_all();
    }
    one.join();  // answered before the run that covers both ends
    publisher.hold(false);
    two.join();
    REQUIRE_FALSE(first.has_value());
    CHECK(first.error().code == "os.ENOSPC");
    CHECK(second.has_value());
}

TEST_CASE("a failed run is tried again although nobody waits") {
    FakePublisher publisher;
    publisher.fail_once = true;
    publisher.set_committed(7);
    PublishQueue queue(publisher.function(), 1);
    queue.want(7);
    publisher.wait_for_run(2);
    CHECK(queue.wait_until_visible(7, long_enough_ms).has_value());
}

TEST_CASE("who waits past failures is called once the pages are visible, or never") {
    FakePublisher publisher;
    publisher.fail_once = true;
    publisher.set_committed(7);
    std::atomic<int> calls = 0;
    {
        PublishQueue queue(publisher.function(), 1);
        queue.call_despite_failures(7, [&] { ++calls; });
        publisher.wait_for_run(2);
        CHECK(queue.wait_until_visible(7, long_enough_ms).has_value());
        CHECK(becomes_true([&] { return calls == 1; }));
        queue.call_despite_failures(3, [&] { ++calls; });  // visible already
        CHECK(calls == 2);
        queue.call_despite_failures(8, [&] { ++calls; });
    }
    CHECK(calls == 2);
}

TEST_CASE("a publisher that throws, or that shows less than was committed, is a failed run") {
    PublishQueue throwing(
        [](registry::RootPages) -> base::Result<catalog::Serial> { throw std::runtime_error("bug"); });
    CHECK(throwing.wait_until_visible(1, long_enough_ms).error().code == "publish.threw");
    PublishQueue lagging(
        [](registry::RootPages) -> base::Result<catalog::Serial> { return catalog::Serial{1}; });
    CHECK(lagging.wait_until_visible(2, long_enough_ms).error().code == "publish.lags");
    CHECK(lagging.wait_until_visible(1, long_enough_ms).has_value());
}

TEST_CASE("a wait has an end") {
    FakePublisher publisher;
    publisher.hold(true);
    PublishQueue queue(publisher.function());
    publisher.set_committed(1);
    CHECK(queue.wait_until_visible(1, 20).error().code == "publish.slow");
    publisher.hold(false);
    CHECK(queue.wait_until_visible(1, long_enough_ms).has_value());
}

TEST_CASE("with other nodes, a caller waits until they show the serial, too") {
    FakePublisher publisher;
    PublishQueue queue(publisher.function());
    std::atomic<catalog::Serial> shown = -1;
    std::atomic<int> awaited = 0;
    REQUIRE(queue.wait_until_visible(0, long_enough_ms));
    queue.wait_for_others(
        {.shown = [&](catalog::Serial serial) { shown = serial; }, .awaited = [&] { ++awaited; }});
    CHECK(shown == 0);  // by a run before this
    publisher.set_committed(3);
    CHECK(queue.wait_until_visible(3, 50).error().code == "publish.slow");
    CHECK(becomes_true([&] { return shown == 3; }));
    CHECK(queue.awaits_others());
    std::atomic<bool> answered = false;
    queue.call_when_visible(3, {}, [&](const base::Status& status) { answered = status.has_value(); });
    CHECK(awaited > 0);
    queue.note_others_show(2);
    CHECK_FALSE(answered);
    queue.note_others_show(3);
    CHECK(answered);
    CHECK_FALSE(queue.awaits_others());
    // A page that is shown here does not fail because a later one does.
    publisher.failing = true;
    CHECK(queue.wait_until_visible(3, long_enough_ms));
}

TEST_CASE("with other nodes, a blob that this one does not find counts as lost only after a while") {
    std::mutex mutex;
    bool is_there = true;
    PublishQueue queue(
        [&](registry::RootPages) -> base::Result<registry::Published> {
            const std::lock_guard lock(mutex);
            registry::Published published(4);
            if (!is_there)
                published.lagging.push_back(
                    {"main",
                     "demo",
                     "demo-1.whl",
                     {"blob.missing", "A stored file is missing", {}, {}, base::Recovery::person}});
            return published;
        },
        20);
    std::atomic<catalog::Serial> shown = -1;
    std::atomic<std::size_t> lost = 0;
    std::atomic<bool> is_behind = false;
    const auto observe = [&](std::int64_t lost_after_ms) {
        queue.wait_for_others({.shown = [&](catalog::Serial serial) { shown = serial; },
                               .awaited = [] {},
                               .troubled =
                                   [&](std::size_t count, bool behind) {
                                       lost = count;
                                       is_behind = behind;
                                   },
                               .lost_after_ms = lost_after_ms});
    };
    is_there = false;
    observe(long_enough_ms);
    queue.want(4);
    CHECK(becomes_true([&] { return is_behind && lost == 1; }));
    CHECK(shown == -1);
    {
        const std::lock_guard lock(mutex);
        is_there = true;
    }
    CHECK(becomes_true([&] { return shown == 4; }));
    CHECK(lost == 0);
    CHECK_FALSE(is_behind);
    // Lost for good: no node shows it, and the others need not wait for ever.
    shown = -1;
    observe(50);
    {
        const std::lock_guard lock(mutex);
        is_there = false;
    }
    queue.want(5);
    queue.call_after_next_run([] {});
    CHECK(becomes_true([&] { return shown == 4 && lost == 1; }));
}

TEST_CASE("a run that was asked for begins after the question, even if nothing is behind") {
    FakePublisher publisher;
    PublishQueue queue(publisher.function());
    REQUIRE(queue.wait_until_visible(0, long_enough_ms));
    publisher.hold(true);
    queue.want(1);
    publisher.wait_for_run(2);
    std::promise<int> run;
    queue.call_after_next_run([&] { run.set_value(publisher.runs); });
    publisher.set_committed(1);
    publisher.hold(false);
    CHECK(run.get_future().get() == 3);
}

TEST_CASE("when the catalog has another history, callers who wait are refused and serials begin again") {
    catalog::Serial committed = 9;
    bool is_rebuilt = false;
    std::mutex mutex;
    PublishQueue queue([&](registry::RootPages) -> base::Result<registry::Published> {
        const std::lock_guard lock(mutex);
        registry::Published published(committed);
        published.is_rebuilt = std::exchange(is_rebuilt, false);
        return published;
    });
    queue.wait_for_others({.shown = [](catalog::Serial) {}, .awaited = [] {}});
    queue.want(9);
    CHECK(queue.wait_until_visible(9, 50).error().code == "publish.slow");
    std::promise<std::string> waiting;
    queue.call_when_visible(
        9, {}, [&](const base::Status& status) { waiting.set_value(status ? "" : status.error().code); });
    {
        const std::lock_guard lock(mutex);
        committed = 7;
        is_rebuilt = true;
    }
    queue.call_after_next_run([] {});
    CHECK(waiting.get_future().get() == "publish.history_lost");
    CHECK(queue.lag().visible == 7);
    queue.note_others_show(7);
    CHECK(queue.wait_until_visible(7, long_enough_ms));
}

TEST_CASE("who needs all root pages has them written at once, and learns if one cannot be") {
    FakeRoots tree;
    PublishQueue queue(tree.function(), long_enough_ms, long_enough_ms);
    CHECK(queue.write_late_roots());  // none is late
    CHECK(tree.count(tree.written) == 0);
    tree.commit(1);
    CHECK(queue.wait_until_visible(1, long_enough_ms).has_value());
    CHECK(queue.lag().late_roots == 1);
    CHECK(queue.write_late_roots());
    CHECK(tree.count(tree.written) == 1);
    CHECK(queue.lag().late_roots == 0);
    tree.commit(2);
    CHECK(queue.wait_until_visible(2, long_enough_ms).has_value());
    tree.fail(true);
    CHECK_FALSE(queue.write_late_roots());
    tree.fail(false);
    CHECK(queue.write_late_roots());
}
