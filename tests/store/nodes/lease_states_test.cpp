// A lease goes only the ways that the picture of lease_states.hpp shows.
#include "lib/store/nodes/lease_states.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace wheelyard::nodes;
using enum LeaseState;
using enum LeaseEvent;

namespace {

constexpr LeaseState states[] = {away, blind, joining, serving};
constexpr LeaseEvent events[] = {caught_up,   newest_shown, renewed, lapsed,    row_ended,
                                 failed_over, unfit,        unlike,  sees_less, sees_again};

}  // namespace

TEST_CASE("an event changes a lease's state as the picture shows it, and no other event does") {
    const std::map<LeaseState, std::map<LeaseEvent, LeaseState>> picture = {
        {away, {{caught_up, joining}, {sees_less, blind}}},
        {blind, {{sees_again, away}}},
        {joining,
         {{renewed, joining},
          {newest_shown, serving},
          {unfit, away},
          {row_ended, away},
          {failed_over, away},
          {unlike, away},
          {sees_less, blind}}},
        {serving,
         {{renewed, serving},
          {lapsed, away},
          {unfit, away},
          {row_ended, away},
          {failed_over, away},
          {sees_less, blind}}},
    };
    for (const LeaseState state : states) {
        for (const LeaseEvent event : events) {
            CAPTURE(static_cast<int>(state));
            CAPTURE(static_cast<int>(event));
            const auto& ways = picture.at(state);
            const auto way = ways.find(event);
            const LeaseTransition* row = find_transition(state, event);
            REQUIRE((row != nullptr) == (way != ways.end()));
            if (row != nullptr) CHECK(row->to == way->second);
        }
    }
}

TEST_CASE("only a node that serves extends its lease, and no way out of its row keeps the row") {
    for (const LeaseState state : states) {
        for (const LeaseEvent event : events) {
            const LeaseTransition* row = find_transition(state, event);
            if (row == nullptr) continue;
            const bool leaves = (row->actions & leave) != 0;
            const bool has_row = state == joining || state == serving;
            CHECK((row->actions == extend) == (state == serving && event == renewed));
            CHECK(leaves == (has_row && (row->to == away || row->to == blind)));
        }
    }
}

TEST_CASE("pages are read no more once the database is another one, or answers a node that joins") {
    for (const LeaseState state : {joining, serving})
        CHECK(find_transition(state, failed_over)->actions == (leave | forget));
    CHECK(find_transition(joining, renewed)->actions == forget);
    CHECK(find_transition(serving, lapsed)->actions == leave);
}
