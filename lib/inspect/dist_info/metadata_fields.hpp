// Checks the individual fields of METADATA (core metadata specification 1.0 to 2.6) beyond what the parser
// enforces: problems that installers and indexes would hit later.
#pragma once

#include <string_view>

#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

// `path` is the path of METADATA, for findings. A wheel with a variant label may have the markers of PEP 825.
void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, bool is_of_variant,
                           Findings& findings);

// Pure syntax checks.
[[nodiscard]] bool is_content_type(std::string_view text);  // for Description-Content-Type
[[nodiscard]] bool is_import_name(
    std::string_view text);  // PEP 794: dotted identifiers that are no keywords, optionally with "; private"

}  // namespace wheelyard::inspect
