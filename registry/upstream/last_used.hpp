// The day on which each fetched file was last requested. A request notes it in memory; save() writes all days at once,
// so that requests cause no writes.
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
    // Forgets the files that were last used before `last_used_kept_days`. Durable on return; writes nothing if nothing
    // changed.
    [[nodiscard]] base::Status save(base::UnixMicros now);

  private:
    const std::filesystem::path file_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Day> days_;
    bool is_changed_ = false;  // since the last save
};

}  // namespace wheelyard::registry
