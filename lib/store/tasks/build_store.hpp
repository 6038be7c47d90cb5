// What the sites build and built, and the logs of it: the last that a site reported of each build, for
// kept_days after its end (docs/reference/builds.md). A build exists from the first report that names it.
//
// As in the queue there is no timer thread: the first change of an hour removes what is old, or too much.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/status/build_report.hpp"
#include "lib/store/tasks/build_rows.hpp"
#include "lib/store/tasks/limits.hpp"

namespace wheelyard::tasks {

struct BuildLimits {
    std::int64_t kept_days = 90;  // since it last changed
    std::int64_t max_builds = tasks::max_builds;
    std::int64_t max_log_bytes = max_build_log_bytes;  // of all
    std::int64_t max_bytes_at_once =
        max_log_bytes_removed_at_once;  // a change that removes what is old stops there
};

struct KeptBuild {
    status::BuildReport report;
    std::int64_t log_bytes = 0;
};

// Thread-safe: the rows are behind a mutex, held for one short transaction. Errors: "build.*" (a refusal),
// and those of the rows.
class BuildStore {
  public:
    // `clock` must outlive the store.
    BuildStore(std::unique_ptr<BuildRows> rows, BuildLimits limits, const base::Clock& clock)
        : rows_(std::move(rows)), limits_(limits), clock_(clock) {}

    // Keeps what the report says of the site's builds.
    [[nodiscard]] base::Status note(const status::SiteReport& report);
    // nullopt: no report has named it, or it was removed.
    [[nodiscard]] base::Result<std::optional<KeptBuild>> find(const BuildKey& key);
    // The last changed first, at most max_builds_returned; `package` empty: of all.
    [[nodiscard]] base::Result<std::vector<KeptBuild>> list(const std::string& index,
                                                            const std::string& package);
    // Returns how long the log is now. Bytes before its end are skipped, because they are stored already.
    // "build.unknown"; "build.log_gap": `offset` is after the end; "build.log_full".
    [[nodiscard]] base::Result<std::int64_t> append_log(const BuildKey& key, std::int64_t offset,
                                                        std::string_view bytes);
    // At most log_piece_bytes from `offset`.
    [[nodiscard]] base::Result<std::string> read_log(const BuildKey& key, std::int64_t offset);

  private:
    template <typename T>
    [[nodiscard]] base::Result<T> look(const std::function<base::Result<T>()>& work);
    void sweep();
    // True: nothing is left to remove.
    [[nodiscard]] base::Result<bool> remove_old(base::UnixMicros now);

    std::mutex mutex_;  // guards rows_ and swept_
    const std::unique_ptr<BuildRows> rows_;
    const BuildLimits limits_;
    const base::Clock& clock_;
    base::UnixMicros swept_ = 0;
};

}  // namespace wheelyard::tasks
