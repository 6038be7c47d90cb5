// The variant (PEP 825) of the wheel that an attempt built, for the index of `registry.variants_to`.
#pragma once

#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Whether one is made: its accelerator declares one, and the wheel has a platform. Never for a task, whose lease allows the
// upload of one wheel.
[[nodiscard]] bool wants_variant(const Attempt& attempt, const Ports& ports);

// Writes it into the attempt's folder and records it. Errors: those of inspect::prove_variant(),
// inspect::write_variant_wheel(), "variant.refused" (the registry's rules).
[[nodiscard]] base::Status make_variant(Attempt& attempt, Ports& ports);

}  // namespace wheelyard::builder
