// The one pass over all members: unpacked, proven (size, CRC-32), hashed against RECORD, and analysed where
// they are ELF files.
//
// Members are taken by several threads (max_threads), largest first. Memory is bounded whatever the wheel's
// size: each thread holds two pieces (piece_bytes each), the inflater's window, and for an ELF member either
// its bytes (up to kept_member_bytes) or up to max_snapshots snapshots of at most 119 KiB and its landmarks:
// at most 17 MiB a thread. To that come one symbol table (torch: 1 MiB, at most 24 MiB), the central
// directory and RECORD (torch: 10 MiB).
#pragma once

#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/dist_info/record_check.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"
#include "lib/inspect/inspect.hpp"
#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/zip/zip.hpp"

namespace wheelyard::inspect {

struct Contents {
    std::vector<ElfMember> elves;  // sorted by name; device code too, but nothing that could not be parsed
    GpuFacts gpu;
};

// `record` may be null (there is none that can be read; its findings are told already).
[[nodiscard]] base::Result<Contents> check_contents(const base::Reader& bytes, const Frame& frame,
                                                    const RecordCheck* record, const InspectOptions& options,
                                                    Findings& findings);

}  // namespace wheelyard::inspect
