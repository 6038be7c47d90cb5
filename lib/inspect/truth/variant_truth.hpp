// Holds a variant's properties against the wheel's code: the level of x86-64, and the GPUs of the accelerators whose
// variants have known words.
#pragma once

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// Finding `variant.promise`. What the facts do not say is not judged: a level where a file has no note, GPUs where no
// device code of their kind is there, or some of it was not read.
void check_variant_truth(const wheel::Variant& variant, const Facts& facts, Findings& findings);

}  // namespace wheelyard::inspect
