// Limits the size of the source cache. Eviction: least recently used.
//
//     WORK/sources/sha256/ab/<sha256>/     a download     its modification time is its last use
//     WORK/sources/git/<repository>-<tag>/ a clone        the same; `bytes` holds the measured size
//
// Every entry can be fetched again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "lib/base/keep_alive.hpp"
#include "lib/base/limits.hpp"
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

// Pure: the entries to remove so that at most `max_bytes` remain, least recently used first. Entries used
// after `rest_after` are never removed: an attempt may be about to unpack them.
[[nodiscard]] std::vector<CacheEntry> choose_to_remove(std::vector<CacheEntry> entries,
                                                       std::uint64_t max_bytes,
                                                       std::filesystem::file_time_type rest_after);

// Reduces the cache under `sources` to `max_bytes`; the caller holds the agent's lock. Returns the removed
// entries. An entry that cannot be removed is skipped. Errors: those of `keep_alive`.
[[nodiscard]] base::Result<std::vector<CacheEntry>> trim_cache(const std::filesystem::path& sources,
                                                               std::uint64_t max_bytes,
                                                               const base::KeepAlive& keep_alive);

// Copies a source that is a folder. On a slow file system, a large copy takes longer than the agent's lock
// stays valid without a refresh.

inline constexpr std::size_t copy_piece_bytes = base::mib;  // copied between two calls of `keep_alive`

// Copies the files, folders and symbolic links (not followed) of `from` into the new folder `to`, with their
// modes restricted by the umask. Calls `keep_alive` before each entry and after each piece of a file. Errors:
// those of copy_error and of `keep_alive`.
[[nodiscard]] base::Status copy_source(const std::filesystem::path& from, const std::filesystem::path& to,
                                       const base::KeepAlive& keep_alive);

// Converts a file system error: "source.unreadable" if the source itself is at fault; otherwise the error
// keeps its code ("os.ENOSPC", "os.ESTALE" …), because another try may succeed.
[[nodiscard]] base::Error copy_error(base::Error refusal);

}  // namespace wheelyard::builder
