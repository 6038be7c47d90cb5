// The rows of the builds as a BuildStore needs them; an implementation keeps them and decides nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::tasks {

// Attempts of different sites may have one ID.
struct BuildKey {
    std::string index;  // to which its site reports
    std::string site;
    std::string id;
};

struct BuildRow {
    BuildKey key;
    std::string package;
    bool is_over = false;
    base::UnixMicros changed = 0;
    std::string document;  // wheelyard.build/1
    std::int64_t log_bytes = 0;
    std::int64_t log_pieces = 0;
};

struct BuildCounts {
    std::int64_t builds = 0;
    std::int64_t log_bytes = 0;
};

enum class WhichBuilds { all, over, over_with_log };

// One thread at a time.
class BuildRows {
  public:
    virtual ~BuildRows() = default;

    // One transaction, durable on return; undone if `work` fails.
    [[nodiscard]] virtual base::Status in_transaction(const std::function<base::Status()>& work) = 0;
    // For `read`, which only reads: one snapshot, which waits for nobody who writes.
    [[nodiscard]] virtual base::Status in_one_snapshot(const std::function<base::Status()>& read) = 0;

    [[nodiscard]] virtual base::Result<std::optional<BuildRow>> find(const BuildKey& key) const = 0;
    // Those of the site that are not over.
    [[nodiscard]] virtual base::Result<std::vector<BuildRow>> open_of(const std::string& index,
                                                                      const std::string& site) const = 0;
    // The last changed first; `package` empty: of all.
    [[nodiscard]] virtual base::Result<std::vector<BuildRow>> list(const std::string& index,
                                                                   const std::string& package,
                                                                   std::size_t limit) const = 0;
    // Those that last changed before `time`, the oldest first, at most `limit`.
    [[nodiscard]] virtual base::Result<std::vector<BuildRow>> changed_before(base::UnixMicros time,
                                                                             WhichBuilds which,
                                                                             std::size_t limit) const = 0;
    [[nodiscard]] virtual base::Result<BuildCounts> counts() const = 0;
    // Inserts it, or sets all but the key.
    [[nodiscard]] virtual base::Status put(const BuildRow& row) = 0;
    // With its log.
    [[nodiscard]] virtual base::Status remove(const BuildKey& key) = 0;
    [[nodiscard]] virtual base::Status remove_log(const BuildKey& key) = 0;

    [[nodiscard]] virtual base::Status append_log(const BuildKey& key, std::int64_t start,
                                                  std::string_view bytes) = 0;
    // From `offset`, at most `limit` bytes.
    [[nodiscard]] virtual base::Result<std::string> read_log(const BuildKey& key, std::int64_t offset,
                                                             std::size_t limit) const = 0;
};

}  // namespace wheelyard::tasks
