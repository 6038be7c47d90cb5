// What `serve` looks after every few seconds: whether commits succeed, the reserve on the disk, the usage of
// the indexes that have quotas, and when the store was last scrubbed and backed up.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "registry/config/live_config.hpp"
#include "registry/serve/upkeep/background_task.hpp"

namespace wheelyard::registry {

// A commit of one page. Rare enough for a disk that sleeps under load, often enough for a load balancer.
inline constexpr std::int64_t upkeep_interval_ms = 10'000;

struct IndexUsage {
    std::string index;
    catalog::Usage all = {};
    catalog::Usage top_token = {};  // the token name with the most bytes
};

// It looks in a thread of its own, which the destructor stops.
class Upkeep {
  public:
    struct Seen {
        std::string write_failure = {};  // why the last trial writes failed; empty if they succeeded
        std::vector<IndexUsage> usage = {};
        bool has_reserve = false;
        base::UnixMicros last_scrub = 0;  // or `verify`: the end of the last complete one; 0: none
        base::UnixMicros last_backup = 0;
    };
    // The arguments must outlive the object. The first look is complete on return.
    Upkeep(ConfigView config, Writer& writer, tasks::TaskStore& tasks,
           std::int64_t interval_ms = upkeep_interval_ms);
    [[nodiscard]] Seen seen() const;  // does not wait for a look in progress

  private:
    void look();
    const ConfigView config_;
    Writer& writer_;
    tasks::TaskStore& tasks_;
    mutable std::mutex mutex_;  // guards seen_
    Seen seen_;
    BackgroundTask task_;  // last: it uses all of the above
};

}  // namespace wheelyard::registry
