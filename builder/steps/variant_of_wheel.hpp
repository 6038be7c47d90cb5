// The variant (PEP 825) of the wheel that an attempt built, for the index of `registry.variants_to`.
#pragma once

#include "builder/steps/ports.hpp"

namespace wheelyard::builder {

// Whether one is made: the wheel has a local version, which the variant's label replaces. Never for a task, whose lease
// allows the upload of one wheel.
[[nodiscard]] bool wants_variant(const Attempt& attempt, const Ports& ports);

// Writes it into the attempt's folder and records it. Errors: "variant.unproven" (nothing proves for which nodes it is),
// "variant.refused" (the registry's rules), those of inspect::write_variant_wheel().
[[nodiscard]] base::Status make_variant(Attempt& attempt, Ports& ports);

}  // namespace wheelyard::builder
