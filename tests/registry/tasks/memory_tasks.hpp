// The rows of a task queue in plain containers: what registry/tasks/task_rows.hpp asks of an implementation, in its
// shortest form. The MemoryTasks of one QueueRows are the connections to one database.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/tasks/task_rows.hpp"

namespace wheelyard::tasks {

struct QueueRows {
    struct Content {
        std::vector<wire::Task> tasks;                        // in the order in which they were inserted
        std::map<std::string, LeaseRow, std::less<>> leases;  // by claim
        std::map<std::string, std::map<std::int64_t, std::string>, std::less<>>
            logs;  // pieces by claim and start
    };
    Content content;
    std::mutex mutex;  // held for a transaction or a snapshot
};

class MemoryTasks final : public TaskRows {
  public:
    explicit MemoryTasks(std::shared_ptr<QueueRows> rows) : rows_(std::move(rows)) {}

    base::Status in_transaction(const std::function<base::Status()>& work) override {
        const std::lock_guard lock(rows_->mutex);
        const QueueRows::Content before = rows_->content;
        auto done = work();
        if (!done) rows_->content = before;
        return done;
    }
    base::Status in_one_snapshot(const std::function<base::Status()>& read) override {
        const std::lock_guard lock(rows_->mutex);
        return read();
    }
    base::Status try_write() override { return {}; }

    base::Result<std::optional<wire::Task>> find(std::string_view id) const override {
        const auto found = std::find_if(now().tasks.begin(), now().tasks.end(),
                                        [&](const wire::Task& task) { return task.id == id; });
        if (found == now().tasks.end()) return std::nullopt;
        return with_lease(*found);
    }
    base::Result<std::vector<wire::Task>> list(const TaskFilter& filter, std::string_view after,
                                               std::size_t limit) const override {
        const auto may_see = [](const std::optional<std::vector<std::string>>& names,
                                const std::string& name) {
            return !names || std::find(names->begin(), names->end(), name) != names->end();
        };
        bool is_after = after.empty();
        auto found = tasks_where([&](const wire::Task& task) {
            const bool is_wanted = is_after && (filter.index.empty() || task.request.index == filter.index) &&
                                   (!filter.state || task.state == *filter.state) &&
                                   may_see(filter.indexes, task.request.index) &&
                                   may_see(filter.packages, task.request.package);
            is_after = is_after || task.id == after;
            return is_wanted;
        });
        found.resize(std::min(found.size(), limit));
        return found;
    }
    base::Result<std::vector<wire::Task>> queued(const std::string& index) const override {
        return tasks_where([&](const wire::Task& task) {
            return task.state == wire::TaskState::queued && task.request.index == index;
        });
    }
    base::Result<std::int64_t> count_queued_until(const wire::Task& task) const override {
        std::int64_t count = 0;
        for (const wire::Task& one : now().tasks) {
            if (one.state == wire::TaskState::queued && one.request.index == task.request.index) ++count;
            if (one.id == task.id) break;
        }
        return count;
    }
    base::Result<std::vector<wire::Task>> lost(base::UnixMicros time) const override {
        return tasks_where([&](const wire::Task& task) {
            const wire::Task now_held = with_lease(task);
            return now_held.lease_until != 0 && now_held.lease_until <= time;
        });
    }
    base::Result<bool> has_lost(base::UnixMicros time) const override {
        return lost(time).map([](const std::vector<wire::Task>& found) { return !found.empty(); });
    }
    base::Result<std::vector<wire::Task>> ended_before(base::UnixMicros time,
                                                       std::size_t limit) const override {
        auto found = tasks_where(
            [&](const wire::Task& task) { return wire::is_over(task.state) && task.changed < time; });
        found.resize(std::min(found.size(), limit));
        return found;
    }
    base::Result<std::optional<wire::Task>> find_open(const wire::TaskRequest& request) const override {
        auto found = tasks_where([&](const wire::Task& task) {
            return is_same(task.request, request) && !wire::is_over(task.state);
        });
        return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
    }
    base::Result<bool> was_asked(const wire::TaskRequest& request) const override {
        return !tasks_where([&](const wire::Task& task) { return is_same(task.request, request); }).empty();
    }
    base::Result<std::int64_t> count_open(std::string_view asked_by) const override {
        const auto& all = now().tasks;
        return std::count_if(all.begin(), all.end(), [&](const wire::Task& task) {
            return !wire::is_over(task.state) && (asked_by.empty() || task.asked_by == asked_by);
        });
    }
    base::Result<std::int64_t> count_open_of_strangers() const override {
        const auto& all = now().tasks;
        return std::count_if(all.begin(), all.end(), [](const wire::Task& task) {
            return !wire::is_over(task.state) && is_of_stranger(task);
        });
    }
    base::Status insert(const wire::Task& task) override {
        now().tasks.push_back(task);
        return {};
    }
    base::Status update(const wire::Task& task) override {
        wire::Task& kept = kept_task(task.id);
        kept.state = task.state;
        kept.reason = task.reason;
        kept.approved_by = task.approved_by;
        kept.attempts = task.attempts;
        kept.changed = task.changed;
        return {};
    }
    base::Status set_outcome(std::string_view id, const std::string& json) override {
        WHEELYARD_ASSIGN(kept_task(id).outcome, io::parse_json(json));
        return {};
    }
    base::Status remove(std::string_view id) override {
        for (const LeaseRow& lease : leases_of(id)) {
            now().logs.erase(lease.claim);
            now().leases.erase(lease.claim);
        }
        std::erase_if(now().tasks, [&](const wire::Task& task) { return task.id == id; });
        return {};
    }

    base::Result<std::optional<LeaseRow>> lease(std::string_view claim) const override {
        const auto found = now().leases.find(claim);
        return found == now().leases.end() ? std::nullopt : std::optional(found->second);
    }
    base::Result<std::optional<LeaseRow>> lease_of_grant(std::string_view grant_id) const override {
        for (const auto& [claim, lease] : now().leases) {
            if (lease.grant_id == grant_id) return lease;
        }
        return std::nullopt;
    }
    base::Status insert(const LeaseRow& lease) override {
        now().leases[lease.claim] = lease;
        return {};
    }
    base::Status update(const LeaseRow& lease) override { return insert(lease); }
    base::Status end_held(std::string_view task, LeaseState state) override {
        for (auto& [claim, lease] : now().leases) {
            if (lease.task == task && lease.state == LeaseState::held) lease.state = state;
        }
        return {};
    }

    base::Status append_log(std::string_view claim, std::int64_t start, std::string_view bytes) override {
        now().logs[std::string(claim)][start] = bytes;
        return {};
    }
    base::Result<std::string> read_log(std::string_view task, std::int64_t number, std::int64_t offset,
                                       std::size_t limit) const override {
        std::string whole;
        for (const LeaseRow& lease : leases_of(task)) {
            const auto log = now().logs.find(lease.claim);
            if (lease.number != number || log == now().logs.end()) continue;
            for (const auto& [start, bytes] : log->second)
                whole += bytes;
        }
        return whole.substr(std::min(static_cast<std::size_t>(offset), whole.size()), limit);
    }
    base::Result<std::int64_t> log_bytes(std::string_view task) const override {
        std::int64_t sum = 0;
        for (const LeaseRow& lease : leases_of(task))
            sum += lease.log_bytes;
        return sum;
    }

  private:
    [[nodiscard]] QueueRows::Content& now() const { return rows_->content; }
    static bool is_same(const wire::TaskRequest& a, const wire::TaskRequest& b) {
        const auto key = [](wire::TaskRequest request) {  // of a source, its bytes alone
            request.source =
                wire::UploadedSource{{}, {}, request.source ? request.source->sha256 : std::string()};
            return request;
        };
        return key(a) == key(b);
    }
    wire::Task& kept_task(std::string_view id) {
        return *std::find_if(now().tasks.begin(), now().tasks.end(),
                             [&](const wire::Task& task) { return task.id == id; });
    }
    [[nodiscard]] std::vector<LeaseRow> leases_of(std::string_view task) const {
        std::vector<LeaseRow> found;
        for (const auto& [claim, lease] : now().leases) {
            if (lease.task == task) found.push_back(lease);
        }
        return found;
    }
    [[nodiscard]] wire::Task with_lease(wire::Task task) const {
        for (const LeaseRow& lease : leases_of(task.id)) {
            if (lease.number != task.attempts) continue;
            task.agent = lease.agent;
            task.lease_until = lease.state == LeaseState::held ? lease.until : 0;
            task.log_bytes = lease.log_bytes;
        }
        return task;
    }
    [[nodiscard]] std::vector<wire::Task> tasks_where(
        const std::function<bool(const wire::Task&)>& is_wanted) const {
        std::vector<wire::Task> found;
        for (const wire::Task& task : now().tasks) {
            if (!is_wanted(task)) continue;
            found.push_back(with_lease(task));
            found.back().outcome = {};
        }
        return found;
    }

    std::shared_ptr<QueueRows> rows_;
};

}  // namespace wheelyard::tasks
