// Limits of builder/site/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::builder {

inline constexpr int default_max_attempts = 3;       // of one task, then it is given up with its reason
inline constexpr int default_max_preemptions = 20;   // of one task: no fault of its own, and none for ever
inline constexpr int default_max_node_failures = 5;  // of one task: it may be what brings them down

// Of one job: a hung one must not hold its slot.
inline constexpr std::int64_t default_max_walltime_minutes = 24 * 60;
inline constexpr std::int64_t max_walltime_minutes_limit = 30 * 24 * 60;
inline constexpr std::int64_t default_cache_gib = 50;  // of sources: a few clones of torch
inline constexpr std::int64_t max_cache_gib = 1024 * 1024;

// Of build trees that nobody goes on with: a few of torch.
inline constexpr std::int64_t default_trees_gib = 50;
inline constexpr std::int64_t venv_timeout_ms = 300'000;  // a new venv with pip, on a slow file system

// Asking a Python about itself, on a cold network file system.
inline constexpr std::int64_t probe_timeout_ms = 30'000;
inline constexpr int max_test_nodes = 1024;  // of one multi-node test

}  // namespace wheelyard::builder
