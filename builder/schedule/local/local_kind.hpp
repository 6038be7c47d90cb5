// The row of jobs that are processes of this machine.
#pragma once

#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {

extern const SchedulerKind local_kind;

}  // namespace wheelyard::builder
