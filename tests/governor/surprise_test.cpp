// One step at a time, always the youngest, and never the last one that moves.
#include "builder/governor/surprise.hpp"

#include <doctest/doctest.h>

#include "builder/governor/limits.hpp"

using namespace wheelyard::governor;

namespace {

// Younger with the number; two of them are expected to outgrow the room.
RunningView view(TryId id, double bytes, bool stopped = false, bool dying = false) {
    return {id, id, bytes, 60, stopped, dying};
}

constexpr double gib_d = static_cast<double>(gib);
constexpr Marks marks{100, 103, 9, 112};

RunningView expected(TryId id, double expected_bytes, double bytes, bool stopped = false) {
    return {id, id, bytes, expected_bytes, stopped, false};
}

struct Row {
    const char* what;
    std::vector<RunningView> running;
    TryId stop, resume, kill;  // 0: none
};

void check(const std::vector<Row>& rows) {
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const auto remedy = find_remedy(row.running, marks);
        CHECK(remedy.stop.value_or(0) == row.stop);
        CHECK(remedy.resume.value_or(0) == row.resume);
        CHECK(remedy.kill.value_or(0) == row.kill);
    }
}

}  // namespace

TEST_CASE(
    "remedies for what is used of a room of 100 (112 with the reserve, of which 3 are for what peaks miss "
    "by)") {
    check({
        {"nothing runs", {}, 0, 0, 0},
        {"room enough", {view(1, 40), view(2, 40)}, 0, 0, 0},
        {"near: the youngest stops", {view(1, 48), view(2, 48)}, 2, 0, 0},
        {"near, one stopped: the next youngest", {view(1, 32), view(2, 32), view(3, 32, true)}, 2, 0, 0},
        {"near, and more than a third stand still: the youngest dies",
         {view(1, 24), view(2, 24), view(3, 24, true), view(4, 24, true)},
         0,
         0,
         4},
        {"near, one moves: it goes on", {view(1, 48), view(2, 24, true), view(3, 24, true)}, 0, 0, 0},
        {"over: the youngest dies, stopped or not", {view(1, 98), view(2, 6, true)}, 0, 0, 2},
        {"one is dying: wait", {view(1, 95), view(2, 10, false, true)}, 0, 0, 0},
        {"room again: the oldest stopped goes on",
         {view(1, 50), view(2, 10, true), view(3, 10, true)},
         0,
         2,
         0},
        {"between the marks nothing changes", {view(1, 80), view(2, 10, true)}, 0, 0, 0},
        {"all stopped: the oldest goes on whatever", {view(2, 60, true), view(3, 36, true)}, 0, 2, 0},
        {"alone it may use the reserve", {view(1, 110)}, 0, 0, 0},
        {"alone and over the reserve", {view(1, 113)}, 0, 0, 1},
    });
}

TEST_CASE("a room that fills as was expected is no surprise") {
    check({
        {"all at their peaks", {expected(1, 50, 50), expected(2, 50, 50)}, 0, 0, 0},
        {"one outgrew its own, by less than another needs",
         {expected(1, 40, 45), expected(2, 55, 52)},
         0,
         0,
         0},
        {"and by little more", {expected(1, 40, 47), expected(2, 55, 52)}, 0, 0, 0},
        {"by much, and it may go on to", {expected(1, 30, 45), expected(2, 55, 54)}, 0, 0, 2},
        {"all are in the reserve", {expected(1, 50, 51), expected(2, 50, 50)}, 0, 0, 2},
        {"one outgrew its own, and the rest", {expected(1, 40, 49), expected(2, 55, 48)}, 2, 0, 0},
        {"the same, and the room is full", {expected(1, 40, 50), expected(2, 55, 49)}, 0, 0, 2},
        {"what was stopped fits in again, in a room as good as full",
         {expected(1, 60, 60), expected(2, 20, 19, true), expected(3, 20, 15, true)},
         0,
         2,
         0},
        {"only the oldest of them fits in, yet",
         {expected(1, 60, 62), expected(2, 20, 18, true), expected(3, 30, 18, true)},
         0,
         2,
         0},
        {"and now none", {expected(1, 60, 62), expected(2, 20, 18), expected(3, 30, 18, true)}, 0, 0, 0},
    });
}

TEST_CASE("marks: a quarter of the reserve is for what peaks miss by, all of it for one alone") {
    const auto marks_here = marks_of({98 * gib_d, 196 * gib_d}, 100 * gib_d, 200 * gib_d);
    CHECK(marks_here.room == 98 * gib_d);
    CHECK(marks_here.surprise == 98.5 * gib_d);
    CHECK(marks_here.outgrown == 1.5 * gib_d);
    CHECK(marks_here.alone == 198 * gib_d);
}

TEST_CASE("under the kernel's pressure the youngest stops while there seems to be room, and none goes on") {
    struct Row {
        const char* what;
        std::vector<RunningView> running;
        TryId stop, resume;
    };
    const Row rows[] = {
        {"two move", {view(1, 10), view(2, 10)}, 2, 0},
        {"one moves", {view(1, 10), view(2, 10, true)}, 0, 0},
        {"none moves", {view(1, 10, true), view(2, 10, true)}, 0, 1},
        {"alone", {view(1, 10)}, 0, 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const auto remedy = find_remedy(row.running, marks, true);
        CHECK(remedy.stop.value_or(0) == row.stop);
        CHECK(remedy.resume.value_or(0) == row.resume);
        CHECK_FALSE(remedy.kill);
    }
}

TEST_CASE("the next look comes before the fastest growth could fill the room, within bounds") {
    struct Row {
        double used_gib, room_gib;
        std::size_t running;
        std::int64_t ms;
    };
    for (const auto& row :
         {Row{0, 64, 2, max_look_ms}, Row{0, 1, 2, 237}, Row{0, 1, 4, 118}, Row{0.5, 1, 2, 112},
          Row{0.94, 1, 1, min_look_ms}, Row{2, 1, 1, min_look_ms}, Row{0, 1, 0, 475}}) {
        CAPTURE(row.used_gib);
        CAPTURE(row.running);
        CHECK(next_look_ms(row.used_gib * gib_d, row.room_gib * gib_d, row.running) == row.ms);
    }
}
