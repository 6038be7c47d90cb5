// One step at a time, always at the youngest, and never stopping the last active compile.
#include "builder/governor/admission/surprise.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::governor;

namespace {

// A larger id is younger; each is expected to reach 60, so two of them do not fit the room.
RunningView view(TryId id, double bytes, bool stopped = false, bool dying = false) {
    return {id, id, bytes, 60, stopped, dying};
}

constexpr double gib_d = static_cast<double>(gib);
constexpr Thresholds thresholds{100, 103, 9, 112};

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
        const auto remedy = find_remedy(row.running, thresholds);
        CHECK(remedy.stop.value_or(0) == row.stop);
        CHECK(remedy.resume.value_or(0) == row.resume);
        CHECK(remedy.kill.value_or(0) == row.kill);
    }
}

}  // namespace

// The room is 100, or 112 with the reserve, of which 3 are tolerated prediction error.
TEST_CASE("the remedy for a surprise depends on use, stopped and dying compiles") {
    check({
        {"nothing runs", {}, 0, 0, 0},
        {"enough room", {view(1, 40), view(2, 40)}, 0, 0, 0},
        {"near: the youngest stops", {view(1, 48), view(2, 48)}, 2, 0, 0},
        {"near, one stopped: the next youngest", {view(1, 32), view(2, 32), view(3, 32, true)}, 2, 0, 0},
        {"near, and more than a third are stopped: the youngest is killed",
         {view(1, 24), view(2, 24), view(3, 24, true), view(4, 24, true)},
         0,
         0,
         4},
        {"near, one active: it continues", {view(1, 48), view(2, 24, true), view(3, 24, true)}, 0, 0, 0},
        {"over: the youngest is killed, stopped or not", {view(1, 98), view(2, 6, true)}, 0, 0, 2},
        {"one is dying: wait", {view(1, 95), view(2, 10, false, true)}, 0, 0, 0},
        {"room again: the oldest stopped resumes",
         {view(1, 50), view(2, 10, true), view(3, 10, true)},
         0,
         2,
         0},
        {"between the thresholds nothing changes", {view(1, 80), view(2, 10, true)}, 0, 0, 0},
        {"all stopped: the oldest resumes", {view(2, 60, true), view(3, 36, true)}, 0, 2, 0},
        {"alone, within the reserve", {view(1, 110)}, 0, 0, 0},
        {"alone, above the reserve", {view(1, 113)}, 0, 0, 1},
    });
}

TEST_CASE("a room that fills as predicted is no surprise") {
    check({
        {"all at their peaks", {expected(1, 50, 50), expected(2, 50, 50)}, 0, 0, 0},
        {"one exceeds its prediction by less than another stays below its own",
         {expected(1, 40, 45), expected(2, 55, 52)},
         0,
         0,
         0},
        {"by slightly more", {expected(1, 40, 47), expected(2, 55, 52)}, 0, 0, 0},
        {"by far more, so it may grow on", {expected(1, 30, 45), expected(2, 55, 54)}, 0, 0, 2},
        {"the room is exceeded", {expected(1, 50, 51), expected(2, 50, 50)}, 0, 0, 2},
        {"one exceeds its prediction and the rest will not fit",
         {expected(1, 40, 49), expected(2, 55, 48)},
         2,
         0,
         0},
        {"the same, and the room is full", {expected(1, 40, 50), expected(2, 55, 49)}, 0, 0, 2},
        {"a stopped compile fits again, although the room is almost full",
         {expected(1, 60, 60), expected(2, 20, 19, true), expected(3, 20, 15, true)},
         0,
         2,
         0},
        {"only the oldest stopped fits",
         {expected(1, 60, 62), expected(2, 20, 18, true), expected(3, 30, 18, true)},
         0,
         2,
         0},
        {"then none", {expected(1, 60, 62), expected(2, 20, 18), expected(3, 30, 18, true)}, 0, 0, 0},
    });
}

TEST_CASE("thresholds: a quarter of the reserve is tolerated error; a compile alone may use all of it") {
    const auto here = thresholds_of({98 * gib_d, 196 * gib_d}, 100 * gib_d, 200 * gib_d);
    CHECK(here.room == 98 * gib_d);
    CHECK(here.surprise == 98.5 * gib_d);
    CHECK(here.overrun == 1.5 * gib_d);
    CHECK(here.alone == 198 * gib_d);
}

TEST_CASE("under memory pressure the youngest stops even with room left, and none resumes") {
    struct Row {
        const char* what;
        std::vector<RunningView> running;
        TryId stop, resume;
    };
    const Row rows[] = {
        {"two active", {view(1, 10), view(2, 10)}, 2, 0},
        {"one active", {view(1, 10), view(2, 10, true)}, 0, 0},
        {"none active", {view(1, 10, true), view(2, 10, true)}, 0, 1},
        {"alone", {view(1, 10)}, 0, 0},
    };
    for (const auto& row : rows) {
        CAPTURE(row.what);
        const auto remedy = find_remedy(row.running, thresholds, true);
        CHECK(remedy.stop.value_or(0) == row.stop);
        CHECK(remedy.resume.value_or(0) == row.resume);
        CHECK_FALSE(remedy.kill);
    }
}

TEST_CASE("the next sample comes before the fastest growth could fill the room, within bounds") {
    struct Row {
        double used_gib, room_gib;
        std::size_t running;
        std::int64_t ms;
    };
    for (const auto& row :
         {Row{0, 64, 2, max_sample_ms}, Row{0, 1, 2, 237}, Row{0, 1, 4, 118}, Row{0.5, 1, 2, 112},
          Row{0.94, 1, 1, min_sample_ms}, Row{2, 1, 1, min_sample_ms}, Row{0, 1, 0, 475}}) {
        CAPTURE(row.used_gib);
        CAPTURE(row.running);
        CHECK(next_sample_ms(row.used_gib * gib_d, row.room_gib * gib_d, row.running) == row.ms);
    }
}
