// Submitting an attempt's job, for the first time or again.
#pragma once

#include "builder/steps/next.hpp"

namespace wheelyard::builder {

// Counts the submission, which follows once the journal has it.
[[nodiscard]] Move begin_submission(Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
