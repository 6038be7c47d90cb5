// The fields of METADATA one by one, as far as the parser lets them be (core metadata specification 1.0
// to 2.6): what installers and indexes would stumble over later is told here.
#pragma once

#include <string_view>

#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

// `path` is METADATA's, for the findings.
void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, Findings& findings);

// Pure parts, by their grammars.
[[nodiscard]] bool is_license_expression(
    std::string_view text);  // SPDX 2.3 annex D; the list of names is not known
[[nodiscard]] bool is_content_type(std::string_view text);  // of Description-Content-Type
[[nodiscard]] bool is_import_name(std::string_view text);  // PEP 794: dotted identifiers, perhaps "; private"

}  // namespace wheelyard::inspect
