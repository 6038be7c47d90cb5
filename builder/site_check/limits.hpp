// Limits of builder/site_check/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

inline constexpr std::int64_t site_look_timeout_ms = 60'000;       // one command of `site check --report`
inline constexpr std::size_t max_report_answer_bytes = 16 * 1024;  // of one command of `site check --report`

}  // namespace wheelyard::builder
