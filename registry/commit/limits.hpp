// Limits of registry/commit/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::registry {

// Commits that wait for the writer thread; each belongs to an upload in progress, so more than the upload
// threads never queue up.
inline constexpr std::size_t max_queued_writes = 256;
inline constexpr std::size_t max_rows_of_a_commit = 64;  // a group commit stays some ms of work

// Root pages that come behind the answer (late_roots.hpp).
inline constexpr std::int64_t root_delay_ms = 1'000;  // uploads of one burst share one
inline constexpr int root_rest_factor = 10;           // so long as one took: they take a tenth of the time
inline constexpr std::int64_t max_root_rest_ms = 60'000;  // however long one takes, and between failures

}  // namespace wheelyard::registry
