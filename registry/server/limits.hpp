// Limits of registry/server/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// The API.
inline constexpr std::size_t max_api_requests = 64;  // concurrent, including those waiting for the pool
inline constexpr std::size_t api_slots_of_administrators = 8;  // of them, whatever all other tokens do
// Without credentials, beside those: in each pool of strangers.
inline constexpr std::size_t max_api_requests_of_strangers = 16;
// Those that wait for one of these places look for it after this time; each costs a connection and some
// microseconds a look.
inline constexpr std::int64_t strangers_turn_ms = 50;
// For the body of a request without a token: 20 KiB at 4 kB/s. Nothing else waits for it.
inline constexpr std::int64_t strangers_body_timeout_ms = 5'000;

// Checks of readers of private indexes that run or wait; each takes microseconds.
inline constexpr std::size_t max_reader_checks = 1'024;

// Without a byte: a request for part of a file waits until all of it is stored, and large ones take long.
inline constexpr std::int64_t upstream_file_wait_ms = 15 * 60'000;

// Average over stall_timeout; slower than any modem.
inline constexpr std::uint64_t min_body_bytes_per_s = 1 * base::kib;

// Pages cached in memory, per I/O thread.
inline constexpr std::size_t max_cached_page_bytes = 1 * base::mib;
// Larger texts are sent from their file: that costs some system calls, as much as a copy of about this size.
inline constexpr std::size_t max_copied_page_bytes = 64 * base::kib;

}  // namespace wheelyard::http
