// One pass over all members: unpacks each, verifies size and CRC-32, compares its hash with RECORD, and
// analyses ELF files.
//
// Several threads (max_threads) take the members, largest first. Memory is bounded for wheels of any size.
// Each thread holds two pieces (piece_bytes each), the inflater's window and, for an ELF member, either its
// bytes (up to kept_member_bytes) or up to max_snapshots snapshots of at most 119 KiB and its landmarks: at
// most 17 MiB per thread. In addition: one symbol table (at most 24 MiB), the central directory and RECORD.
#pragma once

#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/dist_info/record_check.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

struct Contents {
    std::vector<ElfMember> elves;  // sorted by name, device code included; only files that could be parsed
    GpuFacts gpu;
    bool has_foreign_programs = false;  // or libraries: of Windows or macOS
};

// `record` may be null: RECORD cannot be read, and the findings already say so.
[[nodiscard]] base::Result<Contents> check_contents(const base::Reader& bytes, const Frame& frame,
                                                    const RecordCheck* record, const InspectOptions& options,
                                                    Findings& findings);

}  // namespace wheelyard::inspect
