// Limits of registry/upkeep/, each with its unit and its reason.
#pragma once

#include <cstdint>

namespace wheelyard::registry {

// A commit of one page. Rare enough for a disk that sleeps under load, often enough for a load balancer.
inline constexpr std::int64_t upkeep_interval_ms = 10'000;

// The scrub. A server that restarts often reads nothing; one that stays up reads everything once a day at most.
inline constexpr std::int64_t scrub_first_delay_ms = 60'000;
inline constexpr std::int64_t scrub_pause_ms = 24LL * 3'600'000;

// The limit of upstreams' caches. A look at sums; a round has work only after fetches.
inline constexpr std::int64_t cache_limit_pause_ms = 60'000;

}  // namespace wheelyard::registry
