// The rows of the task queue as a TaskStore needs them; an implementation keeps them (sqlite/) and decides
// nothing.
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
#include "lib/wire/task.hpp"

namespace wheelyard::tasks {

// The name of a request without a token begins so; no token has such a name.
inline constexpr std::string_view stranger_prefix = "public:";
[[nodiscard]] inline bool is_of_stranger(const wire::Task& task) {
    return task.asked_by.starts_with(stranger_prefix);
}

// Who has a task: the name of an agent that enrolled, which alone speaks for its site and begins so; of any
// other token its ID.
inline constexpr std::string_view enrolled_prefix = "agent:";

struct TaskFilter {
    std::string index = {};                     // empty: all
    std::optional<wire::TaskState> state = {};  // none: all
    // What the caller may see; nullopt: all.
    std::optional<std::vector<std::string>> indexes = {};
    std::optional<std::vector<std::string>> packages = {};
};

// An order as it is kept: beside what everybody may see, what lets its site upload.
struct TaskRow : wire::Task {
    std::string holder = {};         // as above, of the site that asked last
    std::string used_filename = {};  // the file that was uploaded for it; empty: none yet
    std::string used_sha256 = {};
};

// One thread at a time. Tasks of a list have no outcome.
class TaskRows {
  public:
    virtual ~TaskRows() = default;

    // One transaction, durable on return; undone if `work` fails.
    [[nodiscard]] virtual base::Status in_transaction(const std::function<base::Status()>& work) = 0;
    // For `read`, which only reads: one snapshot, which waits for nobody who writes.
    [[nodiscard]] virtual base::Status in_one_snapshot(const std::function<base::Status()>& read) = 0;
    // Commits a transaction that changes no content: fails where a real change would.
    [[nodiscard]] virtual base::Status try_write() = 0;

    [[nodiscard]] virtual base::Result<std::optional<TaskRow>> find(std::string_view id) const = 0;
    // In the order in which they were inserted, after the task `after` (empty: from the first).
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> list(const TaskFilter& filter,
                                                                     std::string_view after,
                                                                     std::size_t limit) const = 0;
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> queued(const std::string& index) const = 0;
    // Those queued for its index that were inserted no later than this one.
    [[nodiscard]] virtual base::Result<std::int64_t> count_queued_until(const wire::Task& task) const = 0;
    // Those that are taken, of an index (empty: of all).
    [[nodiscard]] virtual base::Result<std::vector<TaskRow>> claimed(const std::string& index) const = 0;
    // Those that a site has until `now` or an earlier time; and whether there are any.
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> late(base::UnixMicros now) const = 0;
    [[nodiscard]] virtual base::Result<bool> has_late(base::UnixMicros now) const = 0;
    // Those that ended and last changed before `time`, at most `limit`.
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> ended_before(base::UnixMicros time,
                                                                             std::size_t limit) const = 0;
    // Those of the index that ended at `time` or later, the newest first, at most `limit`.
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> ended_since(const std::string& index,
                                                                            base::UnixMicros time,
                                                                            std::size_t limit) const = 0;
    // The one with this request that has not ended; and whether there was ever one.
    [[nodiscard]] virtual base::Result<std::optional<wire::Task>> find_open(
        const wire::TaskRequest& request) const = 0;
    [[nodiscard]] virtual base::Result<bool> was_asked(const wire::TaskRequest& request) const = 0;
    // Tasks that have not ended: of one who asked, or of all (empty).
    [[nodiscard]] virtual base::Result<std::int64_t> count_open(std::string_view asked_by) const = 0;
    // The open tasks of all who asked without a token.
    [[nodiscard]] virtual base::Result<std::int64_t> count_open_of_strangers() const = 0;
    [[nodiscard]] virtual base::Status insert(const wire::Task& task) = 0;
    // State, reason, approval, number of times it was taken, times of change and of the lease's end.
    [[nodiscard]] virtual base::Status update(const wire::Task& task) = 0;
    // One statement: the agent's site has the task from now on, if it is queued. False: it is not.
    [[nodiscard]] virtual base::Result<bool> claim(const TaskRow& task) = 0;
    // What a site that has the task says again: the end of its time, its agent and holder, its file.
    [[nodiscard]] virtual base::Status renew(const TaskRow& task) = 0;
    [[nodiscard]] virtual base::Status set_outcome(std::string_view id, const std::string& json) = 0;
    [[nodiscard]] virtual base::Status remove(std::string_view id) = 0;
};

}  // namespace wheelyard::tasks
