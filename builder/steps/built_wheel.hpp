// The wheel that an attempt's job wrote.
#pragma once

#include <filesystem>

#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Error "wheel.count": not exactly one.
[[nodiscard]] base::Result<std::filesystem::path> find_wheel(const Attempt& attempt, const Ports& ports);
// Inspects `file`, or returns the last inspection if it was of this file. Valid until the next call.
[[nodiscard]] base::Result<const inspect::Inspection*> inspection_of(const Attempt& attempt, Ports& ports,
                                                                     const std::filesystem::path& file);
// Where the wheel stays on a site without a registry.
[[nodiscard]] std::filesystem::path kept_wheel(const Attempt& attempt, const Ports& ports);

}  // namespace wheelyard::builder
