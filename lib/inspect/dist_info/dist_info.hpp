// Finds and reads the .dist-info folder and compares it with the file name (binary distribution format, core
// metadata).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/dist_info/sbom.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"
#include "lib/wheel/record.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// The parts that could be read; findings name the others.
struct DistInfo {
    std::string folder;  // "six-1.16.0.dist-info"; empty if there is none
    std::string metadata_bytes;
    std::optional<wheel::Metadata> metadata;
    std::optional<wheel::WheelInfo> wheel;
    std::optional<std::vector<wheel::RecordRow>> record;
    std::string entry_points;
    std::optional<wheel::Variant> variant;  // of a file name with a label
    Components components;                  // of its SBOMs
};

[[nodiscard]] base::Result<DistInfo> read_dist_info(const base::Reader& bytes, const Frame& frame,
                                                    const wheel::WheelFilename& filename, Findings& findings);

// Compares METADATA, WHEEL, licence files, entry points and .data folders with the file name and the members.
void check_dist_info(const DistInfo& info, const Frame& frame, const wheel::WheelFilename& filename,
                     Findings& findings);

}  // namespace wheelyard::inspect
