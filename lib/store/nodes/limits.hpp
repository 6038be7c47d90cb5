// Limits of lib/store/nodes/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::nodes {

inline constexpr std::int64_t default_lease_s = 6;  // what a dead node costs the uploads, once
inline constexpr std::int64_t min_lease_s = 4, max_lease_s = 60;
inline constexpr std::int64_t renewal_ms = 1'000;  // several tries before a lease ends
// A node's own end of its lease is this much before the database's: clocks of two machines run differently
// fast by less than 0.1 percent. A wall clock that jumps by more than this ends the lease.
inline constexpr std::int64_t lease_margin_ms = 200;
// How far a node's wall clock may be from the database's: as far as tokens of log-in providers may be off
// (identity/limits.hpp). The seconds that a renewal may take are well below it.
inline constexpr std::int64_t max_clock_difference_ms = 60'000;
// While uploads wait for other nodes: how often the board is asked.
inline constexpr std::int64_t board_poll_ms = 5;
// The database frees the writer's lock when its connection has been idle for this long; the holder gives up
// earlier.
inline constexpr std::int64_t writer_idle_ms = 5'000;
// A file that a node does not find counts as lost, and so as shown, only when the node would have left if
// others find it: after a lease and two renewals, for each of which the database may take two seconds.
[[nodiscard]] constexpr std::int64_t lost_after_ms(std::int64_t lease_ms) {
    return lease_ms + 2 * (renewal_ms + 2'000);
}
inline constexpr std::int64_t max_read_without_database_s = 7 * 24 * 3'600;
// How long a node that reads without the database goes on until it has to try again whether the database
// answers: longer than one try, which waits for each host of the database and for each node that is frozen.
inline constexpr std::int64_t reading_grant_ms = 15'000;

}  // namespace wheelyard::nodes
