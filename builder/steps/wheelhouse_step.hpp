// The step on the login node that downloads what a job installs, for sites whose jobs cannot reach an index.
#pragma once

#include <string>

#include "builder/script/script.hpp"
#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Error of kind in_progress: the step runs; a later call finds its end.
[[nodiscard]] base::Status fill_wheelhouse(const Attempt& attempt, const Ports& ports, std::string script);

// The same for an uploaded source: its code runs without a network, and what it asks for is fetched beside it.
[[nodiscard]] base::Status fill_separate_wheelhouse(const ScriptInput& input, const Ports& ports);

}  // namespace wheelyard::builder
