// *.dist-info/RECORD (PEP 376, PEP 427): CSV rows of path, hash, size.
//
//     torch/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0
//     torch-2.4.0.dist-info/RECORD,,
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::wheel {

struct RecordRow {
    std::string path;
    std::string algorithm;  // as written: "sha256", "sha384", "sha512"; empty if there is no hash
    std::string digest;     // raw bytes
    std::optional<std::uint64_t> size;
};

// Supports quoted fields; does not reject duplicate paths. Errors "record.*" with the line number.
[[nodiscard]] base::Result<std::vector<RecordRow>> parse_record(std::string_view text);
[[nodiscard]] std::string render_record(const std::vector<RecordRow>& rows);

}  // namespace wheelyard::wheel
