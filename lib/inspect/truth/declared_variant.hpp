// Holds what a site declares of its variant wheels (PEP 825) against what a wheel and its build say, and adds
// the GPUs that the wheel's code is compiled for.
#pragma once

#include <string>
#include <vector>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// How a wheel was built, as far as the wheel itself does not say it.
struct BuiltFor {
    const accelerator::AcceleratorKind* kind = nullptr;  // nullptr: processors alone
    std::string cpu;                                     // as wire::level_of_options()
    std::string local;                                   // the label of its version: "cu126.gh200"
    std::vector<std::string> modules = {};               // that were loaded: "cuda/12.6"
};

// The declared properties with one for all device code. Error "variant.unproven": facts contradict them, or
// something that decides on which nodes the wheel runs has no property.
[[nodiscard]] base::Result<wheel::LabelledVariant> prove_variant(const wheel::LabelledVariant& declared,
                                                                 const Facts& facts, const BuiltFor& built);

}  // namespace wheelyard::inspect
