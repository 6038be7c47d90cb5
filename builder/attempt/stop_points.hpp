// The instants at which an agent can be killed between two of its effects, by name. Tests stop the agent at
// every one of them (WHEELYARD_STOP_AT=submit.started) and prove that the next tick converges.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"

namespace wheelyard::builder {

// In the order of an attempt that succeeds. "journal.X" is the instant after state X is durable.
inline constexpr std::array<std::string_view, 19> stop_points = {
    "lock.taken",     "journal.planned",  "source.fetched",     "journal.fetched",   "source.unpacked",
    "script.written", "journal.prepared", "journal.submitting", "submit.started",    "journal.running",
    "exit.seen",      "journal.built",    "wheel.inspected",    "journal.uploading", "upload.sent",
    "upload.seen",    "outcome.written",  "bulk.removed",       "journal.done",
};

// Of the part of a tick that is about tasks of the registry (task_work.hpp).
inline constexpr std::array<std::string_view, 4> task_stop_points = {"task.intended", "task.claimed",
                                                                     "task.recorded", "task.ended"};
// Of a task that is lost: forgotten, and its attempt not yet given up.
inline constexpr std::string_view task_lost_stop_point = "task.forgotten";
// Of a build tree that goes for want of space: said, and not yet removed.
inline constexpr std::string_view tree_stop_point = "tree.said";

class StopAt {
  public:
    StopAt() = default;
    explicit StopAt(std::string name) : name_(std::move(name)) {}
    // Ends the process at once, as kill -9 would, when this is the point asked for.
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
