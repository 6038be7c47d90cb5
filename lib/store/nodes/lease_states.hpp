// The life of a node's lease as a table. Pure, no I/O.
//
//     away ──caught_up──► joining ──newest_shown──► serving
//      ▲ ▲                   │                         │
//      │ └─── unfit, row_ended, failed_over, unlike ───┤
//      │      (joining only), lapsed (serving only)    │
//      └─sees_again── blind ◄──────── sees_less ───────┘
//
// Away, a node has no row, so no upload waits for one that renders a whole tree; its pages catch up. A blind
// node is away because another one shows files that it cannot, also before it joined. A joining node has a
// row, so uploads wait for it, and shows the newest event. A serving node answers until its lease ends.
#pragma once

#include "lib/base/text/words.hpp"

namespace wheelyard::nodes {

enum class LeaseState { away, blind, joining, serving };
inline constexpr auto lease_states = base::words<LeaseState>({{LeaseState::away, "away"},
                                                              {LeaseState::blind, "away"},
                                                              {LeaseState::joining, "joining"},
                                                              {LeaseState::serving, "serving"}});
enum class LeaseEvent {
    caught_up,     // the pages show what was the newest event when the node began to catch up
    newest_shown,  // the pages show the newest event of a time when the row was there
    renewed,
    lapsed,       // the lease has ended by the node's clocks, or one of them was set
    row_ended,    // a renewal found that the database had ended the lease
    failed_over,  // a renewal found another database
    unfit,        // something is wrong with this node alone
    unlike,       // the node cannot be beside another one
    sees_less,    // another node has shown more for as long as a lease
    sees_again,   // no other node shows more
};
// `extend` moves the end of the lease. `leave` ends it and takes the row away. `forget` ends the right to
// read the pages on without the database: others may have newer ones.
enum LeaseAction : unsigned { none = 0, extend = 1, forget = 2, leave = 4 };

struct LeaseTransition {
    LeaseState from;
    LeaseEvent on;
    LeaseState to;
    unsigned actions = none;
    const char* why = nullptr;  // of the lease's end, for the log; nullptr: the error of the turn says it
};

// nullptr: the event changes nothing in this state.
[[nodiscard]] inline const LeaseTransition* find_transition(LeaseState from, LeaseEvent on) {
    using enum LeaseState;
    using enum LeaseEvent;
    static constexpr const char* others_see = "other nodes show files that it cannot";
    static constexpr const char* unable = "it cannot follow the others";
    static constexpr const char* ended = "the database had ended it";
    static constexpr const char* other_database = "the database was failed over";
    static constexpr LeaseTransition rows[] = {
        {away, caught_up, joining},
        {away, sees_less, blind},
        {blind, sees_again, away},
        {joining, renewed, joining, forget},
        {joining, newest_shown, serving},
        {joining, unlike, away, leave},
        {joining, unfit, away, leave, unable},
        {joining, row_ended, away, leave, ended},
        {joining, failed_over, away, leave | forget, other_database},
        {joining, sees_less, blind, leave, others_see},
        {serving, renewed, serving, extend},
        {serving, lapsed, away, leave, "it could not be renewed in time, or the clock was set"},
        {serving, unfit, away, leave, unable},
        {serving, row_ended, away, leave, ended},
        {serving, failed_over, away, leave | forget, other_database},
        {serving, sees_less, blind, leave, others_see},
    };
    for (const LeaseTransition& row : rows)
        if (row.from == from && row.on == on) return &row;
    return nullptr;
}

}  // namespace wheelyard::nodes
