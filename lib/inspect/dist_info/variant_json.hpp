// variant.json of a variant wheel (PEP 825, its text of 11 May 2026 with the changes of 10 August 2026).
//
//     {"$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
//      "default-priorities": {"namespace": ["x86_64"]},
//      "variants": {"x86_64_v3": {"x86_64": {"level": ["v3"]}}}}
//
// `providers` (PEP 850) may be there: what answers for each of the namespaces. Members that no text names are not kept.
#pragma once

#include <string_view>

#include "lib/base/result.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// What `label`, the one of the file name, means. Errors "variant.*": not JSON, an unknown version of the schema, another
// label or several, an invalid or repeated name or value, a namespace without a place in the order, providers of other
// namespaces or of an unknown kind, a null variant with properties.
[[nodiscard]] base::Result<wheel::Variant> parse_variant_json(std::string_view text, std::string_view label);

}  // namespace wheelyard::inspect
