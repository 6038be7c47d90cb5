// Limits of registry/lifecycle/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::lifecycle {

inline constexpr std::size_t max_reason_bytes = 500;  // one line on a page and in the log
inline constexpr std::int64_t max_kept_versions = 10'000;
inline constexpr std::size_t max_files_of_set =
    100;  // promoted in one transaction, whose bytes are hashed before

// gc. The minimum grace is many times as long as an upload takes from storing its bytes to committing their
// row: a younger blob may belong to an upload in progress.
inline constexpr std::int64_t min_grace_ms = 3'600'000;
inline constexpr std::int64_t usual_grace_ms = 7 * 24 * min_grace_ms;
// 100 years. In microseconds it still fits 64 bits, also when it is subtracted from a time.
inline constexpr std::int64_t max_grace_ms = 36'500 * 24 * min_grace_ms;
inline constexpr std::size_t blobs_forgotten_at_once = 500;  // hashes in one event, rows in one transaction

// verify. The clock is read after each step. Progress is saved after each verify_note_bytes, so that a stopped
// run repeats little.
inline constexpr std::size_t verify_step_bytes = base::mib;
inline constexpr std::uint64_t verify_note_bytes = 256 * base::mib;
inline constexpr std::uint64_t max_verify_state_bytes = 64 * base::kib;
inline constexpr std::size_t rows_at_once = 1'000;

// backup. Copies of the catalog until none refers to a blob that a mirror has given back since. Only the first one takes
// long, so the second is usually the last.
inline constexpr int max_backup_tries = 10;

}  // namespace wheelyard::lifecycle
