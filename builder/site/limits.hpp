// Limits and defaults of builder/site/, with units and reasons.
#pragma once

#include <cstdint>

namespace wheelyard::builder {

inline constexpr int default_max_attempts = 3;  // per cell; after that the cell fails with its reason
inline constexpr std::int64_t default_tick_minutes = 5;
inline constexpr int default_max_preemptions = 20;   // per cell; not the build's fault, but still bounded
inline constexpr int default_max_node_failures = 5;  // per cell; the build itself may crash its nodes

// Per job: a hung job must not hold its slot for ever.
inline constexpr std::int64_t default_max_walltime_minutes = 24 * 60;
inline constexpr std::int64_t max_walltime_minutes_limit = 30 * 24 * 60;

// Build trees kept for a retry that no attempt uses at the moment: holds a few trees of torch.
inline constexpr std::int64_t default_trees_gib = 50;
inline constexpr std::int64_t default_cache_gib = 50;  // source cache: holds a few clones of torch

inline constexpr std::uint64_t max_site_file_bytes = 1 << 20;  // as of every configuration (lib/io/toml.cpp)
inline constexpr int max_test_nodes = 1024;                    // per multi-node test

}  // namespace wheelyard::builder
