// License-Expression (PEP 639): SPDX license expressions (SPDX 2.3, annex D), what they name, and whether a
// list of licences suffices for one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// Names are those of the SPDX License List, or LicenseRef-….
[[nodiscard]] bool is_license_expression(std::string_view text);
// An expression without AND, OR and parentheses: "MIT", "GPL-2.0-or-later WITH GCC-exception-3.1".
[[nodiscard]] bool is_one_license(std::string_view text);
// The licences of a valid expression that `allowed` lacks, if what remains satisfies it no more: of "A AND (B
// OR C)" B and C where only A is allowed, none where A and C are. A licence with an exception, or with `+`,
// is another one than without.
[[nodiscard]] std::vector<std::string> licenses_not_allowed(std::string_view expression,
                                                            const std::vector<std::string>& allowed);

// The identifiers of the SPDX License List, which License-Expression may name (PEP 639).
extern const std::string_view spdx_list_version;  // "3.27.0"
// In lower case, sorted, separated by spaces.
extern const std::string_view spdx_license_ids;
extern const std::string_view spdx_exception_ids;  // what may follow WITH

}  // namespace wheelyard::inspect
