// The rows of the task queue as a TaskStore needs them; an implementation keeps them (sqlite/) and decides nothing.
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

struct TaskFilter {
    std::string index = {};                     // empty: all
    std::optional<wire::TaskState> state = {};  // none: all
    // What the caller may see; nullopt: all.
    std::optional<std::vector<std::string>> indexes = {};
    std::optional<std::vector<std::string>> packages = {};
};

enum class LeaseState { held, ended, over, cancelled };

// One claim of a task.
struct LeaseRow {
    std::string claim;
    std::string task;
    std::int64_t number = 0;  // of the task's claims, from 1
    std::string agent;
    std::string token;  // the ID of the token that claimed
    LeaseState state = LeaseState::held;
    base::UnixMicros until = 0;
    std::string target_index;
    std::string grant_id;
    std::string grant_sha256;
    std::string used_filename = {};  // what the grant was used for; empty: nothing yet
    std::string used_sha256 = {};
    std::int64_t log_bytes = 0;
    std::int64_t log_pieces = 0;
};

// One thread at a time. A Task that is read has what its latest lease says; those of a list have no outcome.
class TaskRows {
  public:
    virtual ~TaskRows() = default;

    // One transaction, durable on return; undone if `work` fails.
    [[nodiscard]] virtual base::Status in_transaction(const std::function<base::Status()>& work) = 0;
    // For `read`, which only reads: one snapshot, which waits for nobody who writes.
    [[nodiscard]] virtual base::Status in_one_snapshot(const std::function<base::Status()>& read) = 0;
    // Commits a transaction that changes no content: fails where a real change would.
    [[nodiscard]] virtual base::Status try_write() = 0;

    [[nodiscard]] virtual base::Result<std::optional<wire::Task>> find(std::string_view id) const = 0;
    // In the order in which they were inserted, after the task `after` (empty: from the first).
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> list(const TaskFilter& filter,
                                                                     std::string_view after,
                                                                     std::size_t limit) const = 0;
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> queued(const std::string& index) const = 0;
    // Those queued for its index that were inserted no later than this one.
    [[nodiscard]] virtual base::Result<std::int64_t> count_queued_until(const wire::Task& task) const = 0;
    // Those whose held lease ends by `now`; and whether there are any.
    [[nodiscard]] virtual base::Result<std::vector<wire::Task>> lost(base::UnixMicros now) const = 0;
    [[nodiscard]] virtual base::Result<bool> has_lost(base::UnixMicros now) const = 0;
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
    // State, reason, approval, number of claims, time of change.
    [[nodiscard]] virtual base::Status update(const wire::Task& task) = 0;
    [[nodiscard]] virtual base::Status set_outcome(std::string_view id, const std::string& json) = 0;
    // With its leases and logs.
    [[nodiscard]] virtual base::Status remove(std::string_view id) = 0;

    [[nodiscard]] virtual base::Result<std::optional<LeaseRow>> lease(std::string_view claim) const = 0;
    [[nodiscard]] virtual base::Result<std::optional<LeaseRow>> lease_of_grant(
        std::string_view grant_id) const = 0;
    [[nodiscard]] virtual base::Status insert(const LeaseRow& lease) = 0;
    // The lease that was read, with what changed.
    [[nodiscard]] virtual base::Status update(const LeaseRow& lease) = 0;
    // The lease that the task holds gets this state, if it holds one.
    [[nodiscard]] virtual base::Status end_held(std::string_view task, LeaseState state) = 0;

    [[nodiscard]] virtual base::Status append_log(std::string_view claim, std::int64_t start,
                                                  std::string_view bytes) = 0;
    // The log of the task's claim with this number: from `offset`, at most `limit` bytes.
    [[nodiscard]] virtual base::Result<std::string> read_log(std::string_view task, std::int64_t number,
                                                             std::int64_t offset,
                                                             std::size_t limit) const = 0;
    [[nodiscard]] virtual base::Result<std::int64_t> log_bytes(
        std::string_view task) const = 0;  // of all claims
};

}  // namespace wheelyard::tasks
