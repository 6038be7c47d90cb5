// Parses times and sizes as squeue, sacct and qstat print them. Any text has a result; values beyond the
// range of the type become its largest value.
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::builder {

inline constexpr std::int64_t s_per_minute = 60;
inline constexpr std::int64_t kib_per_mib = 1024;

// "[DD-][HH:]MM:SS[.mmm]" (squeue(1), sacct(1); PBS's HH:MM:SS too) in seconds; 0 for anything else
// ("INVALID").
[[nodiscard]] std::int64_t parse_elapsed_s(std::string_view text);

// "12345K", "1.5G", "20gb", "2048" (bytes) in KiB. Units are binary, in upper or lower case (sacct(1);
// pbs_resources(7)); fractions are dropped. 0 for anything else.
[[nodiscard]] std::int64_t parse_size_kib(std::string_view text);

}  // namespace wheelyard::builder
