// The governor's limits, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::governor {

using base::gib;
using base::kib;
using base::mib;

// Looking at memory: so often that compiles could not fill the room between two looks, even if each took
// pages as fast as a kernel clears them, and so seldom beyond that that it costs nothing.
inline constexpr double fastest_growth_bytes_per_s = 2.0 * gib;  // of one compile; compilers take 0.3
inline constexpr std::int64_t min_look_ms = 50;
inline constexpr std::int64_t max_look_ms = 500;
inline constexpr std::int64_t reread_limits_ms = 1'000;

// A process enters a cgroup in 4 to 16 ms (the kernel waits for all cores), so only compiles that take this
// long are put into one of their own.
inline constexpr double group_from_s = 1;

// Kept free of compiles: what was not seen growing yet, page tables, the build tool itself.
inline constexpr std::uint64_t reserve_part = 50;  // 1/50 of the limit …
inline constexpr std::uint64_t min_reserve_bytes = 12 * mib;
inline constexpr std::uint64_t max_reserve_bytes = 2 * gib;

// Peaks miss what was expected of them independently of each other; so many standard deviations of all that
// run together are kept free. More idles memory, less stops and kills more (simulated with 1 to 2).
inline constexpr double margin_deviations = 1.5;

// Surprises: what is used and still expected to grow is more than the room and this part of the reserve; or
// what has outgrown what was expected of it has done so by more than that part of the reserve, and may grow
// on. Then, as parts of the room that compiles may use …
inline constexpr double tolerated_part = 0.25;
inline constexpr double outgrown_part = 0.75;    // heeded by killing alone
inline constexpr double stop_above = 0.95;       // the youngest is stopped
inline constexpr unsigned max_stopped_part = 3;  // … or killed, when more than 1/3 of them stand still
inline constexpr double kill_above = 0.985;      // the youngest is killed and queued again
// The oldest stopped one goes on, also where it is not expected to fit yet.
inline constexpr double continue_below = 0.85;
inline constexpr double pressure_above = 0.85;             // a compile that died now may have died of memory
inline constexpr std::int64_t pressure_memory_ms = 3'000;  // for how long a high reading stays evidence

// The kernel's pressure: so much of the time stalled, seen over at least this long, stops the youngest too.
inline constexpr double stall_part = 0.1;
inline constexpr std::int64_t stall_window_ms = 200;

inline constexpr double min_retry_growth = 1.5;  // a compile killed at N is next tried with room for 1.5 N
inline constexpr unsigned max_memory_kills_shared = 2;  // then it runs alone
inline constexpr unsigned max_unexplained_retries = 1;  // "signal 9" without a sign of memory pressure
inline constexpr unsigned max_tries = 6;                // whatever the reasons
// Killed alone at less than this part of what would be there without neighbours: no proof that it cannot fit.
inline constexpr double proof_of_need = 0.7;
// Where only others' memory is in the way of everything that waits.
inline constexpr double neighbour_patience_s = 120;
inline constexpr std::int64_t term_grace_ms = 1'000;  // from SIGTERM (drivers remove their files) to SIGKILL

// Waiting: what is unread in the window may use at most this part of the limit.
inline constexpr std::uint64_t waiting_part = 20;
inline constexpr std::uint64_t waiting_launcher_bytes =
    400 * kib;  // with the `sh -c` around it; measured 0.30 and 0.37 MiB
inline constexpr std::uint64_t processes_per_waiting = 2;  // `sh -c` and the launcher
inline constexpr std::uint64_t processes_per_running = 6;  // and driver, front end, assembler …
// What the broker chooses from. In simulated builds of 7,000 compiles of PyTorch on 2 to 72 cores, 32 a core
// are within 0.005 of what seeing everything gives as long as there are 1.5 GiB a core; with less memory each
// doubling gains a hundredth or two. Few are kept waiting for nothing, as a build tool looks at the pipes of
// all of its children.
inline constexpr unsigned window_per_core = 32;
inline constexpr unsigned roomy_window = 64;    // at least
inline constexpr unsigned tight_window = 1024;  // at least
inline constexpr double roomy_bytes_per_core = 2.0 * gib;
inline constexpr unsigned max_window = 4096;
// Of a make that cannot share the jobserver above it: as many of them may run as the window has places.
inline constexpr unsigned jobs_per_core_below = 2;
inline constexpr unsigned min_window = 2;
// A compile may be overtaken by two full windows, then it is first.
inline constexpr unsigned max_overtaken = 2 * max_window;

inline constexpr std::size_t max_message_bytes = 32 * kib;
// Of a compile's program and PATH, which the broker reads and sends back; longer ones the launcher
// reads.
inline constexpr std::size_t max_plain_compile_bytes = max_message_bytes / 2;
inline constexpr std::size_t max_source_bytes = 4 * kib;
inline constexpr std::uint64_t max_response_file_bytes = 4 * mib;  // larger ones are passed on unread
inline constexpr unsigned deepest_response_file = 4;
inline constexpr std::size_t clue_tail_bytes =
    64 * kib;  // of a failed compile's output, searched for its cause
inline constexpr std::int64_t version_timeout_ms = 5'000;  // `cc --version`, once a compiler and build
inline constexpr std::int64_t qstat_timeout_ms = 10'000;   // a server that is down must not hold the build
inline constexpr unsigned max_masquerade_folders = 4;      // one before the other: ccache's, distcc's
inline constexpr unsigned max_asking_caches = 64;  // at once, and no more than there are cores: 2 MiB each
inline constexpr unsigned fallback_slots =
    2;  // compiles at once when the broker is gone: an idle build is no help

inline constexpr std::uint64_t max_history_bytes = 64 * mib;
inline constexpr std::size_t max_history_records = 200'000;
inline constexpr std::int64_t flush_history_ms = 20'000;
inline constexpr std::int64_t history_lock_stale_ms = 60'000;
inline constexpr std::int64_t history_lock_patience_ms = 3'000;

inline constexpr std::uint64_t max_proc_file_bytes = mib;
inline constexpr std::size_t max_tree_processes = 512;  // of one compile
inline constexpr std::uint64_t max_profile_bytes = 64 * mib;
inline constexpr std::size_t max_trace_entries = 200'000;
// Below this a run through a compiler cache that does not say so was a hit, which says nothing of the
// compile.
inline constexpr std::uint64_t cache_hit_bytes = 32 * mib;

}  // namespace wheelyard::governor
