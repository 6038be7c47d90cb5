// Limits of builder/plan/, each with its unit and its reason.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wheelyard::builder {

// Of the limit or the peak that a build ran out of: few steps, little waste.
inline constexpr std::int64_t memory_raise_percent = 150;
inline constexpr std::size_t max_cells = 10'000;  // of one plan

}  // namespace wheelyard::builder
