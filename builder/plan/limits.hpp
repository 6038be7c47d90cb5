// Limits of builder/plan/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

// The new request in percent of the limit or peak at which a build ran out of memory. Few steps, little waste.
inline constexpr std::int64_t memory_raise_percent = 150;
inline constexpr std::size_t max_cells = 10'000;  // in one plan

}  // namespace wheelyard::builder
