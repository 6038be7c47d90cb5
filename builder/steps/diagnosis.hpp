// Why a job or a step on the login node failed, as the doctor's rules read it from the log.
#pragma once

#include "builder/attempt/job_files.hpp"

namespace wheelyard::builder {

// Explains a failure from its log. If no external cause of the job's end is known, the doctor's rule decides what is
// retried automatically.
void diagnose(const Attempt& attempt, const AttemptFolder& folder, Failure& failure);

}  // namespace wheelyard::builder
