// Limits of the parsers of untrusted text. Each is far above what published packages contain.
#pragma once

#include <cstddef>

#include "lib/base/limits.hpp"

namespace wheelyard::wheel {

inline constexpr std::size_t max_name_bytes = 255;      // project names are part of file names
inline constexpr std::size_t max_version_bytes = 1024;  // published versions stay under 100
inline constexpr std::size_t max_filename_bytes = 255;  // NAME_MAX of Linux file systems
inline constexpr std::size_t max_specifier_set_bytes = 16 * 1024;
inline constexpr std::size_t max_specifiers = 256;
inline constexpr std::size_t max_tags = 1000;  // per tag set after expansion; published wheels have up to 30
inline constexpr std::size_t max_marker_bytes = 16 * 1024;
inline constexpr std::size_t max_marker_nesting = 64;  // parentheses
inline constexpr std::size_t max_requirement_bytes = 32 * 1024;
inline constexpr std::size_t max_extras = 256;  // per requirement
inline constexpr std::size_t max_metadata_bytes =
    16 * base::mib;                                          // descriptions with inline images reach 1 MiB
inline constexpr std::size_t max_metadata_fields = 200'000;  // pip and uv have no limit
inline constexpr std::size_t max_wheel_info_bytes = base::mib;
inline constexpr std::size_t max_record_bytes = 256 * base::mib;
// The maximum number of archive members (lib/inspect/zip/zip.cpp) plus RECORD and its signatures.
inline constexpr std::size_t max_record_rows = 200'003;
inline constexpr std::size_t max_faults = 1000;        // that a lenient reader keeps of one file
inline constexpr std::size_t max_excerpt_bytes = 160;  // of an offending value in an Error

}  // namespace wheelyard::wheel
