// The complete check of one wheel or source distribution: bytes in, facts and verdicts out. It imports and executes
// nothing and unpacks nothing to disk. The registry runs it on every upload, and the agent on every build before it
// uploads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/required_libraries.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"

namespace wheelyard::inspect {

// NAME_MAX (255 bytes) less ".metadata", which the published tree appends to a file's name (PEP 658). A row
// whose page cannot be written would block every later one.
inline constexpr std::size_t max_wheel_filename_bytes = 246;

struct InspectOptions {
    Policy policy;
    unsigned threads = 1;  // members are inflated and hashed in parallel
    // Receives unpacked bytes, from any of the threads but never concurrently; may be empty.
    std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress;
    // What is known of other wheels; may be empty. Called from the thread of the caller.
    LibrariesOf libraries_of = {};
    TorchesFor torches_for = {};
    bool torch_names = false;  // keep the names of torch's interface of each ELF file, up to 32 MiB
};

struct Inspection {
    wheel::WheelFilename filename;  // of an sdist: project and version only
    wheel::Metadata metadata;       // empty if METADATA could not be read (a verdict says so)
    std::string metadata_bytes;     // METADATA or PKG-INFO unmodified, as served for PEP 658
    Facts facts;
    std::vector<ElfMember> elves;          // sorted by name, without their sections
    std::vector<Verdict> verdicts;         // worst first
    [[nodiscard]] Severity worst() const;  // note if there are no verdicts
    [[nodiscard]] bool accepted() const { return worst() < Severity::quarantine; }
    [[nodiscard]] bool refused() const { return worst() == Severity::reject; }
    // "accepted", "quarantined" or "refused".
    [[nodiscard]] std::string_view outcome() const;
};

// The rule that a file name of this form breaks; empty: none.
[[nodiscard]] std::string_view rule_of(wheel::NameForm form);

// `filename` is the claimed name of the wheel. An Error means that the bytes could not be read (I/O); every
// problem of the wheel itself is a verdict.
[[nodiscard]] base::Result<Inspection> inspect_wheel(const base::Reader& bytes, std::string_view filename,
                                                     const InspectOptions& options = {});

// The same for a source distribution. Its facts are sizes, Requires-Python and static_metadata.
[[nodiscard]] base::Result<Inspection> inspect_sdist(const base::Reader& bytes, std::string_view filename,
                                                     const InspectOptions& options = {});

// One of the two, by the extension of `filename`.
[[nodiscard]] base::Result<Inspection> inspect_file(const base::Reader& bytes, std::string_view filename,
                                                    const InspectOptions& options = {});

}  // namespace wheelyard::inspect
