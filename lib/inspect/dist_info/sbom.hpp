// Software bills of materials in `.dist-info/sboms/` (PEP 770): what a wheel says that it contains. CycloneDX 1.x and SPDX 2.x,
// both in JSON. They are statements of the wheel's author, and never a reason to refuse it.
//
//     {"bomFormat":"CycloneDX","specVersion":"1.5","components":[{"name":"openssl","version":"4.0.3",
//      "purl":"pkg:generic/openssl@4.0.3","hashes":[{"alg":"SHA-256","content":"…"}]}]}
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/dist_info/component.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

inline constexpr std::size_t max_sbom_components = 256;     // of one wheel
inline constexpr std::size_t max_sbom_bytes = 32UL * 1024;  // of their names, versions and purls
inline constexpr std::size_t max_sbom_documents =
    16;  // of one wheel; auditwheel and a back end write one each
inline constexpr std::size_t max_sbom_document = 4UL << 20;  // bytes; pydantic-core's has 120 KiB

// Without the wheel itself. Errors: "sbom.unreadable", "sbom.unknown" (neither CycloneDX nor SPDX 2).
[[nodiscard]] base::Result<std::vector<Component>> parse_sbom(std::string_view text);
// The components that the SBOMs of `folder` (`six-1.16.0.dist-info`) name. What cannot be read is a finding.
[[nodiscard]] base::Result<Components> read_sboms(const base::Reader& bytes, const Frame& frame,
                                                  std::string_view folder, Findings& findings);

}  // namespace wheelyard::inspect
