// Limits of lib/status/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::status {

// One report as JSON: some 1,500 cells with their reasons, or the end of 10 logs.
inline constexpr std::size_t max_report_bytes = 256 * base::kib;
inline constexpr std::size_t max_report_depth = 8;      // of its JSON; the format needs 5
inline constexpr std::size_t max_report_items = 4'096;  // of each list; fits max_report_bytes
inline constexpr std::size_t max_text_bytes = 400;      // of one reason or cause; longer ones are cut
// Of a remedy, which holds a command to copy: the longest of the doctor's with the names that it fills in.
inline constexpr std::size_t max_remedy_bytes = 4 * base::kib;
inline constexpr std::size_t max_word_bytes = 200;  // of a name, version or state; longer ones are refused
inline constexpr std::size_t max_log_lines = 50;    // of one running attempt
inline constexpr std::size_t max_log_line_bytes = 500;
inline constexpr std::size_t max_failure_log_lines = 20;  // of one failed attempt
inline constexpr std::size_t max_failure_logs = 10;       // failed attempts, the newest, whose log is sent
inline constexpr std::size_t max_phases = 16;             // of one running attempt; the newest
inline constexpr std::size_t max_memory_points = 60;      // of one running attempt: a picture of 240 pixels
inline constexpr std::size_t max_failures = 50;           // the newest; older ones are in the agent's journal

// Sites that report to one index.
inline constexpr std::size_t max_sites_per_index = 64;
// Requests that it shows, of the open ones the oldest: a page of them. A kibibyte holds one.
inline constexpr std::size_t max_requests_per_index = 200;
inline constexpr std::size_t max_index_status_bytes =
    max_sites_per_index * (max_report_bytes + base::kib) + max_requests_per_index * base::kib;

// What the registry keeps of one build, as JSON: one attempt of a report without its log.
inline constexpr std::size_t max_build_bytes = 16 * base::kib;

}  // namespace wheelyard::status
