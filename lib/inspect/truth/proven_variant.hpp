// Which wheel variant (PEP 825) a wheel is by its facts: a property for everything that decides on which nodes it runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

struct ProvenVariant {
    // The first 8 hex digits of a SHA-256 over the properties, as variantlib names a variant: equal properties, equal label.
    // "null" without any.
    std::string label;
    std::vector<wheel::VariantProperty> properties;  // sorted
    std::string json;                                // variant.json
};

// `built_cpu`: the processor that its compiler options asked for, as wire::cpu_of_options(). Errors "variant.unproven": code
// that was not read, or that no provider has words for, so that the variant would promise nodes too many.
[[nodiscard]] base::Result<ProvenVariant> prove_variant(const Facts& facts, std::string_view built_cpu);

}  // namespace wheelyard::inspect
