// The orders of versions that advisories use: Python's (PEP 440), Semantic Versioning 2.0, and RPM's.
#pragma once

#include <compare>
#include <optional>
#include <string_view>

namespace wheelyard::advisories {

enum class VersionOrder { none, pep440, semver, rpm };

// nullopt: one of them is no version of that order, or the order is `none`. Local parts of PEP 440 do not count: an
// advisory means 2.4.0+cu124 where it says 2.4.0. "v1.2" is 1.2.0 (Go). RPM's: `[EPOCH:]VERSION[-RELEASE]`, rpm-version(7).
[[nodiscard]] std::optional<std::strong_ordering> compare_versions(VersionOrder order, std::string_view a,
                                                                   std::string_view b);

}  // namespace wheelyard::advisories
