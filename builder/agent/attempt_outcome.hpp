// The outcome of an attempt, as the journal and the registry get it.
#pragma once

#include "builder/steps/ports.hpp"
#include "lib/wire/outcome.hpp"

namespace wheelyard::builder {

// Reads the attempt's provenance from its folder.
[[nodiscard]] wire::Outcome outcome_of(const Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
