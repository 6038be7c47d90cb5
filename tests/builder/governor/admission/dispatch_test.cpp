// The retry rules: a killed compile is retried with more room, then alone, then fails.
#include "builder/governor/admission/dispatch.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::governor;

namespace {

CompileFacts facts(std::string source) {
    CompileFacts made;
    made.source = std::move(source);
    made.language = "asm";
    return made;
}

constexpr double mebibyte = static_cast<double>(mib);

}  // namespace

TEST_CASE("a compile killed among others is retried; one killed while alone as required fails") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("giant.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    // It happened to run alone, so the retry must.
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) == Retry::again);
    CHECK(dispatch.need(1).alone);
    REQUIRE(dispatch.start(1).size() == 1);
    CHECK(dispatch.killed_for_memory(1, 995 * mebibyte) == Retry::give_up);
}

TEST_CASE("a killed compile gets half as much room again and waits until another ends") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);
    CHECK(dispatch.killed_for_memory(2, 300 * mebibyte) == Retry::again);
    CHECK(dispatch.need(2).typical_bytes == doctest::Approx(450 * mebibyte));
    CHECK_FALSE(dispatch.need(2).alone);
    CHECK(dispatch.start(1).empty());  // held until something ends
    dispatch.ended(1, 10 * mebibyte, 1, true);
    CHECK(dispatch.start(2).size() == 1);
}

TEST_CASE("a compile that leaves while running ends the hold after a kill; one that only waited does not") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    for (const TryId id : {TryId{1}, TryId{2}, TryId{3}})
        dispatch.arrive(id, facts(std::to_string(id) + ".s"));
    REQUIRE(dispatch.start(0).size() == 3);
    CHECK(dispatch.killed_for_memory(3, 300 * mebibyte) == Retry::again);
    dispatch.arrive(4, facts("4.s"));
    dispatch.leave(4);
    CHECK(dispatch.start(1).empty());
    dispatch.leave(1);
    CHECK(dispatch.start(2) == std::vector<TryId>{3});
}

TEST_CASE("a compile killed within its prediction keeps its prediction and is not forced to run alone") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);
    const double before = dispatch.need(2).typical_bytes;
    CHECK(dispatch.killed_for_memory(2, mebibyte) == Retry::again);
    CHECK(dispatch.need(2).typical_bytes == doctest::Approx(before));
    CHECK_FALSE(dispatch.need(2).alone);
}

TEST_CASE("the number of tries is bounded for any sequence of kills") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(100'000 * mebibyte);
    dispatch.arrive(0, facts("long.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    dispatch.arrive(1, facts("a.s"));
    unsigned kills = 0;
    for (Retry verdict = Retry::again; verdict == Retry::again; ++kills) {
        REQUIRE(kills < 2 * max_tries);
        if (kills == max_tries) dispatch.ended(0, 1, 1, false);  // so that it may run alone
        dispatch.arrive(100 + kills, facts("tick.s"));
        dispatch.leave(100 + kills);
        auto started = dispatch.start(kills);
        if (started.empty()) {
            dispatch.ended(0, 1, 1, false);
            started = dispatch.start(kills);
        }
        REQUIRE(started == std::vector<TryId>{1});
        verdict = dispatch.killed_for_memory(1, mebibyte);
    }
    CHECK(kills <= max_tries + 2);
}

TEST_CASE("SIGKILL without pressure: one retry, alone, then failure") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.died_unexplained(1) == Retry::again);
    CHECK(dispatch.need(1).alone);
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.died_unexplained(1) == Retry::give_up);
}

TEST_CASE("measurements update the predictions of waiting compiles") {
    Dispatch dispatch(1, {});
    dispatch.set_limit(1000 * mebibyte);
    for (TryId id = 0; id < 40; ++id)
        dispatch.arrive(id, facts("d/" + std::to_string(id) + ".s"));
    const double before = dispatch.need(39).typical_bytes;
    for (int i = 0; i < 20; ++i) {
        const auto started = dispatch.start(i);
        REQUIRE(started.size() == 1);
        dispatch.ended(started[0], 5 * mebibyte, 0.1, true);
    }
    double after = before;
    for (TryId id = 0; id < 40; ++id) {
        if (dispatch.admission().waiting() > 0 && id == 39) after = dispatch.need(id).typical_bytes;
    }
    CHECK(after < before / 2);
}

TEST_CASE("an unmeasured end does not change predictions") {
    Dispatch dispatch(1, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    dispatch.ended(1, 5 * mebibyte, 0.1, false);
    CHECK_FALSE(dispatch.predictor().knows(facts("a.s")));
}

TEST_CASE("with a throttling limit, shared compiles stay below it and one that runs alone may exceed it") {
    const Room room{200 * mebibyte, 1000 * mebibyte};
    Dispatch dispatch(4, {});
    dispatch.set_limit(room, room);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);  // predicted at 40 MiB each
    dispatch.observe(1, 190 * mebibyte);
    CHECK(dispatch.killed_for_memory(2, 20 * mebibyte) == Retry::again);
    CHECK(dispatch.start(1).empty());
    CHECK(dispatch.killed_for_memory(1, 190 * mebibyte) == Retry::again);
    CHECK(dispatch.need(1).alone);
    CHECK(dispatch.start(2) == std::vector<TryId>{2});
    dispatch.ended(2, 20 * mebibyte, 1, true);
    // Its need exceeds the shared room, so it starts alone.
    CHECK(dispatch.need(1).typical_bytes > room.shared);
    CHECK(dispatch.start(3) == std::vector<TryId>{1});
    dispatch.arrive(3, facts("c.s"));
    CHECK(dispatch.start(4).empty());
    // Killed alone, but far below the killing limit: other processes caused it.
    CHECK(dispatch.killed_for_memory(1, 400 * mebibyte) == Retry::again);
    dispatch.leave(3);
    REQUIRE(dispatch.start(5) == std::vector<TryId>{1});
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) == Retry::give_up);
}

TEST_CASE("a compile that only other processes' memory keeps out waits for a limited time") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(Room{10 * mebibyte, 20 * mebibyte}, Room{10 * mebibyte, 1000 * mebibyte});
    dispatch.arrive(1, facts("a.s"));
    CHECK(dispatch.start(0).empty());
    CHECK(dispatch.start(max_wait_for_others_s - 1).empty());
    CHECK(dispatch.start(max_wait_for_others_s).size() == 1);
}

TEST_CASE("a kill caused by other processes' memory does not prove that the compile cannot fit") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(100 * mebibyte, 1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.killed_for_memory(1, 90 * mebibyte) == Retry::again);
    CHECK(dispatch.need(1).alone);
    CHECK(dispatch.start(1).empty());  // waits for the other process …
    CHECK(dispatch.start(max_wait_for_others_s).empty());
    REQUIRE(dispatch.start(1 + max_wait_for_others_s).size() == 1);  // … for a limited time
    CHECK(dispatch.killed_for_memory(1, 90 * mebibyte) == Retry::again);
    dispatch.set_limit(1000 * mebibyte, 1000 * mebibyte);
    REQUIRE(dispatch.start(500).size() == 1);  // the other process is gone
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) == Retry::give_up);
}
