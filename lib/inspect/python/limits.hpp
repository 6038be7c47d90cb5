// Limits of lib/inspect/python/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_source_bytes = base::mib;  // of one module; hand-written ones have less
inline constexpr std::uint64_t max_all_source_bytes = 32 * base::mib;  // that one import reaches
inline constexpr std::size_t max_modules_read = 3'000;                 // torch's import reaches 1,200
inline constexpr std::size_t max_block_depth = 100;      // Python refuses more levels of indentation
inline constexpr std::size_t max_argument_tokens = 400;  // of a call; what follows is not looked at
inline constexpr std::size_t max_candidates = 40;        // names of libraries in one function
inline constexpr std::size_t max_call_depth = 12;
inline constexpr std::size_t max_walk_steps = 2'000'000;  // effects that one import looks at: a second
inline constexpr std::size_t max_opened = 64;             // libraries in the facts of a wheel

}  // namespace wheelyard::inspect
