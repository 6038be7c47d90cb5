// Limits of registry/server/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::http {

// The API.
inline constexpr std::size_t max_api_requests = 64;  // concurrent, including those waiting for the pool
inline constexpr std::size_t api_slots_of_administrators = 8;  // of them, whatever all other tokens do
inline constexpr std::size_t max_api_requests_of_a_token =
    28;  // half of the rest; administrators have no limit
// Without credentials, beside those: in each pool of strangers, and of one network in it.
inline constexpr std::size_t max_api_requests_of_strangers = 16;
inline constexpr std::size_t max_api_requests_of_a_network = 4;
// Those that wait for one of these places look for it after this time; each costs a connection and some microseconds a look.
inline constexpr std::int64_t strangers_turn_ms = 50;
inline constexpr std::size_t max_waiting_strangers = 512;
inline constexpr std::size_t max_waiting_strangers_of_a_network = 32;
// For the body of a request without a token: 20 KiB at 4 kB/s. Nothing else waits for it.
inline constexpr std::int64_t strangers_body_timeout_ms = 5'000;
inline constexpr std::size_t first_body_bytes = 4 * base::kib;  // of memory; more as bytes arrive

// Checks of readers of private indexes that run or wait; each takes microseconds.
inline constexpr std::size_t max_reader_checks = 1'024;

// Pages and files that come from upstreams.
// Below the timeout of pip's requests (15 s): a cached page is better than none.
inline constexpr std::int64_t upstream_page_wait_ms = 10'000;
// For a page that was never fetched: the client's timeout decides.
inline constexpr std::int64_t upstream_first_page_wait_ms = 60'000;
// Without a byte: a request for part of a file waits until all of it is stored, and large ones take long.
inline constexpr std::int64_t upstream_file_wait_ms = 15 * 60'000;
inline constexpr std::size_t max_upstream_waits = 1'024;  // concurrent; each holds a connection
inline constexpr std::size_t max_upstream_waits_of_a_client = 768;

// Requests that another node answers: each uses as much as an upload, and waits on a thread of its own while it does.
inline constexpr std::size_t max_forwards = 32;
inline constexpr std::size_t max_forwards_of_strangers = 8;  // of them: who has a token finds the others free
inline constexpr std::size_t forward_threads = 16;
inline constexpr std::size_t max_forwarded_fetches =
    8;  // of files, which may take minutes; uploads need threads, too

// Bodies in transfer.
// Two per upload: one is filled while the other is written.
inline constexpr std::size_t upload_buffer_bytes = 1 * base::mib;

// After this many bytes, other connections get a turn, which keeps the p99 of pages at a few ms.
inline constexpr std::size_t sendfile_turn_bytes = 512 * base::kib;
inline constexpr int requests_per_turn = 16;  // pipelined on one connection, for the same reason

// Uploads that wait for others of their token; each holds a connection.
inline constexpr std::size_t max_waiting_uploads = 256;

// Average over stall_timeout; slower than any modem.
inline constexpr std::uint64_t min_body_bytes_per_s = 1 * base::kib;

// How much of a refused body is read, so that the client sees the reply.
inline constexpr std::uint64_t max_lingering_bytes = 256 * base::mib;
inline constexpr std::int64_t max_lingering_ms = 30'000;
inline constexpr std::int64_t quiet_lingering_ms = 2'000;  // ends earlier after this time without a byte
inline constexpr std::size_t max_refusals_at_once = 64;    // connections over the limit that still get a 503
inline constexpr std::int64_t accept_pause_ms =
    100;  // after accept(2) failed for lack of descriptors or memory

// Pages cached in memory, per I/O thread.
inline constexpr std::size_t max_cached_page_bytes = 1 * base::mib;
inline constexpr std::size_t max_cached_bytes = 64 * base::mib;
inline constexpr std::size_t max_cached_pages =
    20'000;  // of any size: their names and dates take memory, too
// The JSON root page, which is sent with serials and so not from the disk: 300,000 projects.
inline constexpr std::size_t max_cached_root_bytes = 8 * base::mib;
// Other indexes in which a project is looked for that one lacks: a call of the file system each.
inline constexpr std::size_t max_indexes_asked = 64;
// A project's page of which PyPI's JSON form is made: 30,000 files.
inline constexpr std::size_t max_pypi_page_bytes = 16 * base::mib;

}  // namespace wheelyard::http
