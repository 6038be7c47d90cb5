// The tables of the documents of this folder, for those who describe them (lib/io/schema.hpp).
#pragma once

#include "lib/base/text/words.hpp"
#include "lib/io/record.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::wire {

[[nodiscard]] io::Document problem_document();
[[nodiscard]] io::Document task_document();
[[nodiscard]] io::Document tasks_document();
[[nodiscard]] io::Document claimed_document();
[[nodiscard]] io::Document outcome_document();
[[nodiscard]] io::Document wheel_provenance_document();

inline constexpr auto task_states = base::words<TaskState>({{TaskState::awaits_approval, "awaits_approval"},
                                                            {TaskState::queued, "queued"},
                                                            {TaskState::claimed, "claimed"},
                                                            {TaskState::done, "done"},
                                                            {TaskState::failed, "failed"},
                                                            {TaskState::cancelled, "cancelled"}});

}  // namespace wheelyard::wire
