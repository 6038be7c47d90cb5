// The whole check of one wheel: bytes in, facts and verdicts out. Nothing is imported, run or unpacked to
// disk. The registry runs this on every upload and the agent on every build, before it uploads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

struct InspectOptions {
    Policy policy;
    unsigned threads = 1;  // members are inflated and hashed in parallel
    std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>
        progress;  // unpacked bytes; may be empty
};

struct Inspection {
    wheel::WheelFilename filename;
    wheel::Metadata metadata;    // empty where METADATA could not be read (then there is a reject verdict)
    std::string metadata_bytes;  // METADATA unmodified: what PEP 658 serves
    Facts facts;
    std::vector<ElfMember> elves;   // what each ELF file says, sorted by name; their sections are not kept
    std::vector<Verdict> verdicts;  // worst first
    [[nodiscard]] Severity worst() const;  // note when there is no verdict
    [[nodiscard]] bool accepted() const { return worst() < Severity::quarantine; }
    [[nodiscard]] bool refused() const { return worst() == Severity::reject; }
    // "accepted", "quarantined" or "refused".
    [[nodiscard]] std::string_view outcome() const;
};

// `filename` is the name claimed for these bytes. An Error means that the bytes could not be read at all
// (I/O); whatever is wrong with the wheel itself is a verdict.
[[nodiscard]] base::Result<Inspection> inspect_wheel(const base::Reader& bytes, std::string_view filename,
                                                     const InspectOptions& options = {});

}  // namespace wheelyard::inspect
