// Limits the size of the source cache. Eviction: least recently used.
//
//     WORK/sources/sha256/ab/<sha256>/     a download     its modification time is its last use
//     WORK/sources/git/<repository>-<tag>/ a clone        the same; `bytes` holds the measured size
//
// Every entry can be fetched again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Total size of the regular files in a folder; 0 if the folder does not exist.
[[nodiscard]] std::uint64_t bytes_below(const std::filesystem::path& folder);

struct CacheEntry {
    std::filesystem::path folder;
    std::uint64_t bytes = 0;
    std::filesystem::file_time_type used;
};

// Marks an entry as used now. Best effort: a failure can only cost another download.
void mark_used(const std::filesystem::path& entry);

// The cache entries under `sources`, without incomplete clones. A missing folder is an empty cache.
[[nodiscard]] std::vector<CacheEntry> list_cache(const std::filesystem::path& sources);

// Pure: the entries to remove so that at most `max_bytes` remain, least recently used first. Entries used after
// `rest_after` are never removed: an attempt may be about to unpack them.
[[nodiscard]] std::vector<CacheEntry> choose_to_remove(std::vector<CacheEntry> entries,
                                                       std::uint64_t max_bytes,
                                                       std::filesystem::file_time_type rest_after);

// Reduces the cache under `sources` to `max_bytes`; the caller holds the agent's lock. Returns the removed
// entries. An entry that cannot be removed is skipped. Errors: those of `keep_alive`.
[[nodiscard]] base::Result<std::vector<CacheEntry>> trim_cache(const std::filesystem::path& sources,
                                                               std::uint64_t max_bytes,
                                                               const base::KeepAlive& keep_alive);

}  // namespace wheelyard::builder
