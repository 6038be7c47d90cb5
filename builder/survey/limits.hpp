// Limits and suggestions of builder/survey/, with units and reasons.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_listed = 12;  // names in one comment of a draft
inline constexpr int max_asked_again = 20;     // a question of `site init`, of which each answer was wrong
inline constexpr std::size_t max_queues_listed = 30;
inline constexpr std::size_t max_nodes_listed = 12;  // node types of a draft
inline constexpr std::size_t max_site_name = 64;     // as the reader of site.toml accepts

inline constexpr std::uint64_t min_build_bytes = 2 * base::gib;  // a work folder's, to build sdists

inline constexpr int max_suggested_cores = 32;  // more rarely make a build faster, and wait longer in a queue
inline constexpr std::int64_t first_minutes = 8 * 60;           // a build of torch on such a job
inline constexpr std::int64_t default_minutes = 24 * 60;        // where a queue has no limit
inline constexpr std::int64_t max_suggested_minutes = 48 * 60;  // of a retry
inline constexpr int min_python_minor = 9;  // older ones have no wheels of today's packages to build with

}  // namespace wheelyard::builder
