// How much the cache of sources may hold: what was used longest ago goes first.
//
//     WORK/sources/sha256/ab/<sha256>/     a download     its modification time is when it was last used
//     WORK/sources/git/<repository>-<tag>/ a clone        the same; `bytes`: its size, once measured
//
// Nothing of it is needed for good: who misses a source fetches it anew.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lib/base/breathe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Of the regular files in a folder; 0 where there is none.
[[nodiscard]] std::uint64_t bytes_below(const std::filesystem::path& folder);

struct CacheEntry {
    std::filesystem::path folder;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type used;
};

// Says that an entry was used just now. Best effort: a clock that fails costs a download.
void mark_used(const std::filesystem::path& entry);

// What is in the cache under `sources`, clones that are not whole yet left out; a folder that is not there is
// an empty cache.
[[nodiscard]] std::vector<CacheEntry> list_cache(const std::filesystem::path& sources);

// Pure: what to remove so that at most `max_bytes` stay, the longest unused first. Entries used after
// `rest_after` stay whatever they hold: an attempt may be about to unpack them.
[[nodiscard]] std::vector<CacheEntry> choose_to_remove(std::vector<CacheEntry> entries,
                                                       std::uint64_t max_bytes,
                                                       std::filesystem::file_time_type rest_after);

// Brings the cache under `sources` down to `max_bytes`; for the holder of the agent's lock. Returns what was
// removed. What cannot be removed stays, and costs only space. Errors: as `breathe`.
[[nodiscard]] base::Result<std::vector<CacheEntry>> trim_cache(const std::filesystem::path& sources,
                                                               std::uint64_t max_bytes,
                                                               const base::Breathe& breathe);

}  // namespace wheelyard::builder
