// Checks the individual fields of METADATA (core metadata specification 1.0 to 2.6) beyond what the parser
// enforces: problems that installers and indexes would hit later.
#pragma once

#include <string_view>

#include "lib/inspect/verdict/findings.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

// `path` is the path of METADATA, for findings.
void check_metadata_fields(const wheel::Metadata& metadata, std::string_view path, Findings& findings);

// Pure syntax checks.
// SPDX 2.3 annex D, with the identifiers of the SPDX License List and LicenseRef-….
[[nodiscard]] bool is_license_expression(std::string_view text);
[[nodiscard]] bool is_content_type(std::string_view text);  // for Description-Content-Type
[[nodiscard]] bool is_import_name(
    std::string_view text);  // PEP 794: dotted identifiers that are no keywords, optionally with "; private"

// The identifiers of the SPDX License List, which License-Expression may name (PEP 639).
extern const std::string_view spdx_list_version;  // "3.27.0"
// In lower case, sorted, separated by spaces.
extern const std::string_view spdx_license_ids;
extern const std::string_view spdx_exception_ids;  // what may follow WITH

}  // namespace wheelyard::inspect
