// The rules of retrying: what is killed runs again with more room, then alone, then fails.
#include "builder/governor/dispatch.hpp"

#include <doctest/doctest.h>

#include "builder/governor/limits.hpp"

using namespace wheelyard::governor;

namespace {

Facts facts(std::string source) {
    Facts made;
    made.source = std::move(source);
    made.language = "asm";
    return made;
}

constexpr double mebibyte = static_cast<double>(mib);

}  // namespace

TEST_CASE("killed in company it runs again; killed alone by command it gives up") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("giant.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) ==
          Verdict::again);  // nobody else to blame: alone from here
    CHECK(dispatch.need(1).alone);
    REQUIRE(dispatch.start(1).size() == 1);
    CHECK(dispatch.killed_for_memory(1, 995 * mebibyte) == Verdict::give_up);
}

TEST_CASE("a kill makes room: it asks for half as much again, and the others end first") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);
    CHECK(dispatch.killed_for_memory(2, 300 * mebibyte) == Verdict::again);
    CHECK(dispatch.need(2).typical_bytes == doctest::Approx(450 * mebibyte));
    CHECK_FALSE(dispatch.need(2).alone);
    CHECK(dispatch.start(1).empty());  // held until something ends
    dispatch.ended(1, 10 * mebibyte, 1, true);
    CHECK(dispatch.start(2).size() == 1);
}

TEST_CASE("one that leaves without a word makes room, too; one that only waited does not") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    for (const TryId id : {TryId{1}, TryId{2}, TryId{3}})
        dispatch.arrive(id, facts(std::to_string(id) + ".s"));
    REQUIRE(dispatch.start(0).size() == 3);
    CHECK(dispatch.killed_for_memory(3, 300 * mebibyte) == Verdict::again);
    dispatch.arrive(4, facts("4.s"));
    dispatch.leave(4);
    CHECK(dispatch.start(1).empty());
    dispatch.leave(1);
    CHECK(dispatch.start(2) == std::vector<TryId>{3});
}

TEST_CASE("a bystander that is killed keeps its place among the others") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);
    const double before = dispatch.need(2).typical_bytes;
    CHECK(dispatch.killed_for_memory(2, mebibyte) == Verdict::again);
    CHECK(dispatch.need(2).typical_bytes == doctest::Approx(before));
    CHECK_FALSE(dispatch.need(2).alone);
}

TEST_CASE("tries have an end whatever kills them") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(100'000 * mebibyte);
    dispatch.arrive(0, facts("long.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    dispatch.arrive(1, facts("a.s"));
    unsigned kills = 0;
    for (Verdict verdict = Verdict::again; verdict == Verdict::again; ++kills) {
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

TEST_CASE("signal 9 without pressure: once more, alone, then never") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.died_unexplained(1) == Verdict::again);
    CHECK(dispatch.need(1).alone);
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.died_unexplained(1) == Verdict::give_up);
}

TEST_CASE("what ends teaches the waiting") {
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

TEST_CASE("an unmeasured end teaches nothing") {
    Dispatch dispatch(1, {});
    dispatch.set_limit(1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    dispatch.ended(1, 5 * mebibyte, 0.1, false);
    CHECK_FALSE(dispatch.predictor().knows(facts("a.s")));
}

TEST_CASE("where something slows before anything kills, several keep under it and one alone may go beyond") {
    const Room room{200 * mebibyte, 1000 * mebibyte};
    Dispatch dispatch(4, {});
    dispatch.set_limit(room, room);
    dispatch.arrive(1, facts("a.s"));
    dispatch.arrive(2, facts("b.s"));
    REQUIRE(dispatch.start(0).size() == 2);  // 40 MiB each, as far as anybody knows
    dispatch.observe(1, 190 * mebibyte);
    CHECK(dispatch.killed_for_memory(2, 20 * mebibyte) == Verdict::again);
    CHECK(dispatch.start(1).empty());
    CHECK(dispatch.killed_for_memory(1, 190 * mebibyte) == Verdict::again);
    CHECK(dispatch.need(1).alone);
    CHECK(dispatch.start(2) == std::vector<TryId>{2});
    dispatch.ended(2, 20 * mebibyte, 1, true);
    // Its need is beyond what several may use: it starts all the same, and alone.
    CHECK(dispatch.need(1).typical_bytes > room.shared);
    CHECK(dispatch.start(3) == std::vector<TryId>{1});
    dispatch.arrive(3, facts("c.s"));
    CHECK(dispatch.start(4).empty());
    // Killed alone where the kernel slows it down: by a neighbour, since what kills it alone is far away.
    CHECK(dispatch.killed_for_memory(1, 400 * mebibyte) == Verdict::again);
    dispatch.leave(3);
    REQUIRE(dispatch.start(5) == std::vector<TryId>{1});
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) == Verdict::give_up);
}

TEST_CASE("one that would fit alone if it were not for the neighbours waits for them a while") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(Room{10 * mebibyte, 20 * mebibyte}, Room{10 * mebibyte, 1000 * mebibyte});
    dispatch.arrive(1, facts("a.s"));
    CHECK(dispatch.start(0).empty());
    CHECK(dispatch.start(neighbour_patience_s - 1).empty());
    CHECK(dispatch.start(neighbour_patience_s).size() == 1);
}

TEST_CASE("killed alone by what a neighbour took is no proof that it cannot fit") {
    Dispatch dispatch(4, {});
    dispatch.set_limit(100 * mebibyte, 1000 * mebibyte);
    dispatch.arrive(1, facts("a.s"));
    REQUIRE(dispatch.start(0).size() == 1);
    CHECK(dispatch.killed_for_memory(1, 90 * mebibyte) == Verdict::again);
    CHECK(dispatch.need(1).alone);
    CHECK(dispatch.start(1).empty());  // it waits for the neighbour to go …
    CHECK(dispatch.start(neighbour_patience_s).empty());
    REQUIRE(dispatch.start(1 + neighbour_patience_s).size() == 1);  // … and not for ever
    CHECK(dispatch.killed_for_memory(1, 90 * mebibyte) == Verdict::again);
    dispatch.set_limit(1000 * mebibyte, 1000 * mebibyte);
    REQUIRE(dispatch.start(500).size() == 1);  // gone
    CHECK(dispatch.killed_for_memory(1, 990 * mebibyte) == Verdict::give_up);
}
