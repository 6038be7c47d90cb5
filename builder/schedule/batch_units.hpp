// Times and sizes as squeue, sacct and qstat print them. Other people's programs print them, so any text is
// answered; what is beyond the type's range is its largest value.
#pragma once

#include <cstdint>
#include <string_view>

namespace wheelyard::builder {

// "[DD-][HH:]MM:SS[.mmm]" (squeue(1), sacct(1); PBS's HH:MM:SS too) in seconds; 0 when it is something else
// ("INVALID").
[[nodiscard]] std::int64_t parse_elapsed_s(std::string_view text);

// "12345K", "1.5G", "20gb", "2048" (bytes) in KiB; the units are binary in either case of letter (sacct(1);
// pbs_resources(7)) and a fraction is dropped. 0 when it is something else.
[[nodiscard]] std::int64_t parse_size_kib(std::string_view text);

}  // namespace wheelyard::builder
