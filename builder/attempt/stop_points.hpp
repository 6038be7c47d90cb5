// Failpoints: the named points between two side effects of the agent. Tests stop the agent at each of them
// (WHEELYARD_STOP_AT=submit.started) and check that the next tick converges.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"

namespace wheelyard::builder {

// In the order of a successful attempt. "journal.X" follows the durable write of state X.
inline constexpr std::array<std::string_view, 19> stop_points = {
    "lock.taken",     "journal.planned",  "source.fetched",     "journal.fetched",   "source.unpacked",
    "script.written", "journal.prepared", "journal.submitting", "submit.started",    "journal.running",
    "exit.seen",      "journal.built",    "wheel.inspected",    "journal.uploading", "upload.sent",
    "upload.seen",    "outcome.written",  "bulk.removed",       "journal.done",
};

// In the part of a tick that handles tasks of the registry (task_work.hpp).
inline constexpr std::array<std::string_view, 4> task_stop_points = {"task.intended", "task.claimed",
                                                                     "task.recorded", "task.ended"};
// After a lost task is forgotten, before its attempt ends.
inline constexpr std::string_view task_lost_stop_point = "task.forgotten";
// After the removal of a build tree to free space is recorded, before the removal.
inline constexpr std::string_view tree_stop_point = "tree.said";

class StopAt {
  public:
    StopAt() = default;
    explicit StopAt(std::string name) : name_(std::move(name)) {}
    // Ends the process at once, like kill -9, if `name` is the requested point.
    void here(std::string_view name) const {
        if (name_.empty()) return;
        WHEELYARD_CHECK(std::find(stop_points.begin(), stop_points.end(), name_) != stop_points.end() ||
                        std::find(task_stop_points.begin(), task_stop_points.end(), name_) !=
                            task_stop_points.end() ||
                        name_ == task_lost_stop_point || name_ == tree_stop_point);
        if (name_ == name) ::_exit(137);
    }

  private:
    std::string name_;
};

}  // namespace wheelyard::builder
