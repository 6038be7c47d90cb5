// Which compile starts: order, room, reservation, starvation.
#include "builder/governor/admission/admission.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace wheelyard::governor;

namespace {

Need need(double bytes, double seconds, unsigned cpus = 1) {
    return {bytes, 0, seconds, cpus, false};
}

bool has(const std::vector<TryId>& ids, TryId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// A limit of 100, filled by ten compiles that run until 1; returns the next free id.
TryId fill_with_small(Admission& admission) {
    admission.set_limit(100);
    TryId next = 0;
    while (next < 10)
        admission.enqueue(next++, need(10, 1));
    REQUIRE(admission.start(0).size() == 10);
    return next;
}

}  // namespace

TEST_CASE("the largest time × memory starts first, within cores and memory") {
    Admission admission(2);
    admission.set_limit(100);
    admission.enqueue(1, need(10, 1));
    admission.enqueue(2, need(60, 100));
    admission.enqueue(3, need(50, 90));
    const auto first = admission.start(0);
    REQUIRE(first.size() == 2);
    CHECK(first[0] == 2);
    CHECK(first[1] == 1);  // 3 does not fit with 2
    CHECK(admission.start(1).empty());
    admission.remove(2);
    CHECK(admission.start(2) == std::vector<TryId>{3});
}

TEST_CASE("running compiles stay within the limit, spreads included") {
    struct Row {
        double spread;
        std::size_t started;
    };
    for (const auto& [spread, started] : {Row{0, 10}, Row{10, 8}, Row{50, 5}}) {
        Admission admission(100);
        admission.set_limit(1000);
        for (TryId id = 0; id < 20; ++id)
            admission.enqueue(id, {100, spread, 1, 1, false});
        CHECK(admission.start(0).size() >= started - 1);
        CHECK(admission.reserved_bytes() <= 1000);
    }
}

TEST_CASE("spreads average out: many compiles reserve less than the sum of their high quantiles") {
    Admission admission(100);
    admission.set_limit(1000);
    for (TryId id = 0; id < 20; ++id)
        admission.enqueue(id, {50, 25, 1, 1, false});
    CHECK(admission.start(0).size() > 1000 / 100);
}

TEST_CASE("something runs while anything waits, even without room") {
    Admission admission(4);
    admission.set_limit(0);
    admission.enqueue(1, need(100, 1));
    admission.enqueue(2, need(100, 1));
    CHECK(admission.start(0).size() == 1);
    CHECK(admission.start(0).empty());
}

TEST_CASE("a compile that must run alone starts when nothing runs, and nothing starts next to it") {
    Admission admission(4);
    admission.set_limit(1000);
    admission.enqueue(1, {10, 0, 1, 1, true});
    admission.enqueue(2, need(1, 1));
    CHECK(admission.start(0) == std::vector<TryId>{2});
    admission.remove(2);
    CHECK(admission.start(1) == std::vector<TryId>{1});
    admission.enqueue(3, need(1, 1));
    CHECK(admission.start(2).empty());
    admission.remove(1);
    CHECK(admission.start(3) == std::vector<TryId>{3});
}

TEST_CASE("near the end room is reserved for a blocked head: others start only if they do not delay it") {
    Admission admission(8);
    admission.set_limit(100);
    admission.enqueue(1, need(60, 10));
    REQUIRE(admission.start(0) == std::vector<TryId>{1});
    admission.enqueue(2, need(90, 100));  // blocked until 10
    admission.enqueue(3, need(20, 5));    // ends before the head can start
    admission.enqueue(4, need(20, 50));   // would delay it
    admission.enqueue(5, need(5, 50));    // leaves enough room
    const auto started = admission.start(0);
    CHECK(has(started, 3));
    CHECK(has(started, 5));
    CHECK_FALSE(has(started, 4));
    CHECK_FALSE(has(started, 2));
}

TEST_CASE("room is reserved for large compiles while the running ones are smaller") {
    struct Row {
        double large_bytes;
        bool waits;
    };
    for (const auto& [large_bytes, waits] : {Row{30, true}, Row{11, false}, Row{300, false}}) {
        CAPTURE(large_bytes);
        Admission admission(16);
        TryId next = fill_with_small(admission);
        for (int i = 0; i < 20; ++i)
            admission.enqueue(1000 + static_cast<TryId>(i), need(large_bytes, 2));
        for (int i = 0; i < 500; ++i)
            admission.enqueue(next++, need(10, 1));
        admission.remove(0);
        const auto small = admission.start(0.5);
        CHECK(small.empty() == waits);
        if (!waits) continue;
        admission.remove(1);
        admission.remove(2);
        const auto large = admission.start(1);
        REQUIRE(large.size() == 1);
        CHECK(large[0] >= 1000);
    }
}

TEST_CASE("room is reserved for large compiles only if it will be free at a known time") {
    struct Row {
        const char* what;
        Need other;
        double now_s;
        bool waits;
    };
    for (const auto& [what, other, now_s, waits] : {
             Row{"the room is expected at 1", need(30, 2), 0.5, true},
             Row{"all running compiles exceed their time", need(30, 2), 1.5, false},
             Row{"compiles that run alone do not count", {30, 0, 2, 1, true}, 0.5, false},
             Row{"compiles larger than the limit do not count", need(101, 1), 0.5, false},
         }) {
        CAPTURE(what);
        Admission admission(16);
        TryId next = fill_with_small(admission);
        admission.enqueue(999, need(11, 10));  // the first in order
        for (int i = 0; i < 20; ++i)
            admission.enqueue(1000 + static_cast<TryId>(i), other);
        for (int i = 0; i < 500; ++i)
            admission.enqueue(next++, need(10, 1));
        admission.remove(0);
        CHECK(admission.start(now_s).empty() == waits);
    }
}

TEST_CASE("the number of times a compile is overtaken is bounded") {
    Admission admission(1);
    admission.set_limit(100);
    admission.enqueue(0, need(1, 0.01));
    TryId next = 1;
    admission.enqueue(next++, need(50, 50));
    std::uint64_t overtaken = 0;
    for (; overtaken < 3 * max_overtaken; ++overtaken) {
        admission.enqueue(next++, need(50, 50));  // larger than the first
        const auto started = admission.start(static_cast<double>(overtaken));
        REQUIRE(started.size() == 1);
        if (started[0] == 0) break;
        admission.remove(started[0]);
    }
    CHECK(overtaken <= max_overtaken);
}

TEST_CASE("a compile that uses more than predicted reduces the room of others") {
    Admission admission(4);
    admission.set_limit(100);
    admission.enqueue(1, need(10, 1));
    REQUIRE(admission.start(0).size() == 1);
    admission.observe(1, 80);
    admission.enqueue(2, need(30, 1));
    CHECK(admission.start(0).empty());
    admission.observe(1, 20);  // the peak counts
    CHECK(admission.start(0).empty());
}

TEST_CASE("threads count as cores, and a compile with more threads than cores still starts") {
    Admission admission(4);
    admission.set_limit(100);
    admission.enqueue(1, need(10, 10, 3));
    admission.enqueue(2, need(10, 5, 2));
    admission.enqueue(3, need(10, 1, 1));
    const auto started = admission.start(0);
    CHECK(has(started, 1));
    CHECK_FALSE(has(started, 2));
    CHECK(has(started, 3));
    for (const auto id : started)
        admission.remove(id);
    admission.enqueue(4, need(10, 100, 64));
    CHECK(has(admission.start(1), 4));
}

TEST_CASE("unknown and repeated ids change nothing") {
    Admission admission(1);
    admission.set_limit(10);
    admission.remove(7);
    admission.revise(7, need(1, 1));
    admission.observe(7, 1);
    admission.enqueue(1, need(1, 1));
    admission.enqueue(1, need(9, 9));
    CHECK(admission.waiting() == 1);
    CHECK(admission.start(0) == std::vector<TryId>{1});
}

TEST_CASE("a compile as large as the limit starts in its turn") {
    Admission admission(4);
    admission.set_limit(100);
    admission.enqueue(1, need(100, 50));
    admission.enqueue(2, need(40, 1));
    CHECK(admission.start(0) == std::vector<TryId>{1});
}

TEST_CASE("a compile larger than the limit starts after those that fit") {
    Admission admission(4);
    admission.set_limit(100);
    admission.enqueue(1, need(500, 50));
    admission.enqueue(2, need(40, 1));
    CHECK(admission.min_waiting_bytes() == 40);
    CHECK(admission.start(0) == std::vector<TryId>{2});
    admission.remove(2);
    CHECK(admission.start(1) == std::vector<TryId>{1});
}
