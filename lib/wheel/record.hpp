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
#include "lib/wheel/metadata.hpp"

namespace wheelyard::wheel {

struct RecordRow {
    std::string path;
    std::string algorithm;  // as written: "sha256", "sha384", "sha512"; empty if there is no hash
    std::string digest;     // raw bytes
    std::optional<std::uint64_t> size;
    bool has_fault = false;  // only with `faults`: an unreadable hash or size is left out
};

// Supports quoted fields; does not reject duplicate paths. Errors "record.*" with the line number. With
// `faults`, a row whose path cannot be read is left out, a digest in hexadecimal is read, and only limits are
// errors.
[[nodiscard]] base::Result<std::vector<RecordRow>> parse_record(std::string_view text,
                                                                Faults* faults = nullptr);
[[nodiscard]] std::string render_record(const std::vector<RecordRow>& rows);

}  // namespace wheelyard::wheel
