// Failpoints: the named points between two side effects of the agent. Tests stop the agent at each of them
// (WHEELYARD_FAILPOINT=submit.started) and check that the next tick converges.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"

namespace wheelyard::builder {

// In the order of a successful attempt. "journal.X" follows the durable write of state X.
inline constexpr std::array<std::string_view, 19> agent_failpoints = {
    "lock.taken",     "journal.planned",  "source.fetched",     "journal.fetched",   "source.unpacked",
    "script.written", "journal.prepared", "journal.submitting", "submit.started",    "journal.running",
    "exit.seen",      "journal.built",    "wheel.inspected",    "journal.uploading", "upload.sent",
    "upload.seen",    "outcome.written",  "bulk.removed",       "journal.done",
};

// In the part of a tick that handles tasks of the registry (task_leases.hpp).
inline constexpr std::array<std::string_view, 3> task_failpoints = {"task.claimed", "task.recorded",
                                                                    "task.ended"};
// In the upload of a wheel's variant: made, sent, seen on the page; each before the journal says so.
inline constexpr std::array<std::string_view, 3> variant_failpoints = {"variant.made", "variant.sent",
                                                                       "variant.seen"};
// After a lost task is forgotten, before its attempt ends.
inline constexpr std::string_view task_lost_failpoint = "task.forgotten";
// After the registry has promoted a set, before the journal says so.
inline constexpr std::string_view promotion_failpoint = "promote.sent";
// After the removal of a build tree to free space is recorded, before the removal.
inline constexpr std::string_view tree_failpoint = "tree.recorded";
// After the registry has answered to an agent's renewal or code, before the agent has written anything.
inline constexpr std::string_view renewal_failpoint = "renewal.answered";

class Failpoints {
  public:
    Failpoints() = default;
    explicit Failpoints(std::string name) : name_(std::move(name)) {}
    // Ends the process at once, like kill -9, if `name` is the requested point.
    void hit(std::string_view name) const {
        if (name_.empty()) return;
        WHEELYARD_CHECK(is_known(name_));
        if (name_ == name) ::_exit(137);
    }

  private:
    static bool is_known(std::string_view name) {
        const auto has = [&](const auto& names) {
            return std::find(names.begin(), names.end(), name) != names.end();
        };
        return has(agent_failpoints) || has(task_failpoints) || name == task_lost_failpoint ||
               name == promotion_failpoint || name == tree_failpoint || name == renewal_failpoint ||
               has(variant_failpoints);
    }
    std::string name_;
};

}  // namespace wheelyard::builder
