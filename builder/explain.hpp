// Everything that is known of one task, in the order in which it happened: what the plan says, each attempt
// with what its job asked for, used and failed of, and what the agent does next. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/plan/plan.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

struct TaskStory {
    std::string task;
    std::optional<Cell> cell;                     // of the plan; absent: nobody wants it (any more)
    std::vector<Attempt> attempts;                // by number
    std::optional<wire::Task> claimed_task = {};  // of the registry that it is built for
};

[[nodiscard]] std::string render_story(const TaskStory& story);
[[nodiscard]] std::string render_story_json(const TaskStory& story);  // "wheelyard.explain/1"

}  // namespace wheelyard::builder
