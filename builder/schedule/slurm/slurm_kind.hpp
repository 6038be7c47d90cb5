// The row of Slurm.
#pragma once

#include "builder/schedule/scheduler_kind.hpp"

namespace wheelyard::builder {

extern const SchedulerKind slurm_kind;

}  // namespace wheelyard::builder
