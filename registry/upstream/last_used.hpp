// The day on which each fetched file was last requested, and which files an upstream's cache that is larger
// than `max_cache_mib` evicts first. A request notes it in memory; save() writes all days at once, so that
// requests cause no writes.
//
//     DIR/upstream/last-used.json
//     {"format":"wheelyard.last-used/1","days":{"4721f391…":20780}}
//
// A day is that of UTC since 1970. What a crash loses are the notes since the last save().
#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

using Day = std::int64_t;
[[nodiscard]] Day day_of(base::UnixMicros time);

// Thread-safe.
class LastUsed {
  public:
    // Reads `file`; an unreadable one is logged and counts as empty.
    explicit LastUsed(std::filesystem::path file);
    void note(const std::string& sha256, base::UnixMicros now);
    [[nodiscard]] Day day(const std::string& sha256) const;  // 0: unknown
    // Forgets the files that were last used before `last_used_kept_days`. Durable on return; writes nothing
    // if nothing changed.
    [[nodiscard]] base::Status save(base::UnixMicros now);

  private:
    const std::filesystem::path file_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Day> days_;
    bool is_changed_ = false;  // since the last save
};

struct CachedCopy {
    std::string filename;
    std::string project = {};
    std::string sha256 = {};
    std::uint64_t size_bytes = 0;
    base::UnixMicros fetched = 0;
    Day last_used = 0;     // the day of the last request; at least that of `fetched`
    bool is_kept = false;  // pinned, quarantined or prefetched
};

// The copies in the order in which they are evicted, the least recently used first. Those that are kept, and
// those that were fetched within `min_cached_s`, are not among them.
[[nodiscard]] std::vector<CachedCopy> order_of_return(std::vector<CachedCopy> copies, base::UnixMicros now);

}  // namespace wheelyard::registry
