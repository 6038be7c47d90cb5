// When the large root pages are written
#include "lib/store/commit/publishing.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::registry;
using std::chrono::milliseconds;

namespace {

const LateRoots::TimePoint start{std::chrono::hours(1)};

LateRoots::TimePoint at(std::int64_t ms) {
    return start + milliseconds(ms);
}

}  // namespace

TEST_CASE("a late root page is due a moment after its first name, however many follow") {
    LateRoots roots(1'000);
    CHECK_FALSE(roots.are_due(at(0)));
    roots.note_left(0, at(0));
    CHECK_FALSE(roots.are_due(at(10'000)));
    roots.note_left(1, at(10'000));
    roots.note_left(1, at(10'900));
    CHECK(roots.count() == 1);
    CHECK(roots.behind_ms(at(10'950)) == 950);
    CHECK_FALSE(roots.are_due(at(10'999)));
    CHECK(roots.are_due(at(11'000)));
    CHECK(roots.due_at() == at(11'000));
}

TEST_CASE("written by somebody else, it is due no more") {
    LateRoots roots(1'000);
    roots.note_left(2, at(0));
    roots.note_left(0, at(500));
    CHECK_FALSE(roots.are_due(at(5'000)));
    CHECK(roots.behind_ms(at(5'000)) == 0);
}

TEST_CASE("what takes long to write is written seldom, and at least once a minute") {
    struct Row {
        std::int64_t took_ms;
        std::int64_t due_ms;  // after it
    };
    for (const Row& row :
         {Row{0, 1'000}, Row{50, 1'000}, Row{300, 3'000}, Row{5'999, 59'990}, Row{90'000, 60'000}}) {
        CAPTURE(row.took_ms);
        LateRoots roots(1'000);
        roots.note_left(1, at(0));
        roots.note_written(at(1'000), at(1'000 + row.took_ms));
        CHECK(roots.count() == 0);
        const std::int64_t ended = 1'000 + row.took_ms;
        roots.note_left(1, at(ended));
        CHECK_FALSE(roots.are_due(at(ended + row.due_ms - 1)));
        CHECK(roots.are_due(at(ended + row.due_ms)));
    }
}

TEST_CASE("one that cannot be written is tried later and later, and at once later again when it was") {
    LateRoots roots(1'000);
    roots.note_left(1, at(0));
    std::int64_t now = 1'000;
    for (const std::int64_t pause : {1'000, 2'000, 4'000, 8'000, 16'000, 32'000, 60'000, 60'000}) {
        CAPTURE(pause);
        roots.note_failed(at(now));
        CHECK_FALSE(roots.are_due(at(now + pause - 1)));
        CHECK(roots.are_due(at(now + pause)));
        now += pause;
    }
    CHECK(roots.behind_ms(at(now)) == now);
    roots.note_written(at(now), at(now));
    roots.note_left(1, at(now));
    roots.note_failed(at(now));
    CHECK(roots.are_due(at(now + 1'000)));
}
