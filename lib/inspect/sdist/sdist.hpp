// The check of a source distribution (PEP 625, PEP 643): a tar.gz with the one folder {name}-{version}, which has
// PKG-INFO. Every member is read once; nothing is written to disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

inline constexpr std::uint64_t max_sdist_members = 200'000;  // PyTorch with its submodules: under 20,000

struct Sdist {
    std::uint64_t members = 0;
    std::uint64_t unpacked_bytes = 0;
    std::string metadata_bytes;               // PKG-INFO unmodified; empty if it could not be read
    std::optional<wheel::Metadata> metadata;  // its parse
};

// Findings name every problem of the sdist itself; an Error means that the bytes could not be read (I/O).
[[nodiscard]] base::Result<Sdist> check_sdist(const base::Reader& bytes, const wheel::SdistFilename& filename,
                                              const SizeLimits& sizes, Findings& findings);

// Whether PKG-INFO holds for every wheel that is built from the sdist (PEP 643): Metadata-Version 2.2 or newer, and no
// field is Dynamic. Only then may an index offer it as the file's metadata.
[[nodiscard]] bool has_static_metadata(const wheel::Metadata& metadata);

}  // namespace wheelyard::inspect
