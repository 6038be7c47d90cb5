// The identifiers of the SPDX License List, which License-Expression may name (PEP 639).
#pragma once

#include <string_view>

namespace wheelyard::inspect {

extern const std::string_view spdx_list_version;  // "3.27.0"
// In lower case, sorted, separated by spaces.
extern const std::string_view spdx_license_ids;
extern const std::string_view spdx_exception_ids;  // what may follow WITH

}  // namespace wheelyard::inspect
