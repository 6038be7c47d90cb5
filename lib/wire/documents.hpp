// The tables of the documents of this folder, for those who describe them (lib/io/schema.hpp).
#pragma once

#include <string>

#include "lib/io/record.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::wire {

[[nodiscard]] io::Document problem_document();
[[nodiscard]] io::Document task_document();
[[nodiscard]] io::Document tasks_document();
[[nodiscard]] io::Document claimed_document();
[[nodiscard]] io::Document outcome_document();
[[nodiscard]] io::Document wheel_provenance_document();

// The codec of a task's state.
struct TaskStateText {
    static io::Json to(TaskState state);
    static bool from(const io::Json& json, TaskState& into);
    static std::string type();
};

}  // namespace wheelyard::wire
