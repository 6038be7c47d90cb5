// The row of PBS.
#pragma once

#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {

extern const SchedulerKind pbs_kind;

}  // namespace wheelyard::builder
