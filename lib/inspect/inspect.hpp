// The complete check of one wheel or source distribution: bytes in, facts and verdicts out. It imports and
// executes nothing and unpacks nothing to disk. The registry runs it on every upload, and the agent on every
// build before it uploads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/inspect/dist_info/dist_info.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/inspect/verdict/verdict.hpp"
#include "lib/inspect/zip/zip.hpp"
#include "lib/inspect/zip/zip_writer.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/metadata.hpp"
#include "lib/wheel/variant.hpp"

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

// Inspects a source distribution. Its facts are sizes, Requires-Python and static_metadata.
[[nodiscard]] base::Result<Inspection> inspect_sdist(const base::Reader& bytes, std::string_view filename,
                                                     const InspectOptions& options = {});

// One of the two, by the extension of `filename`.
[[nodiscard]] base::Result<Inspection> inspect_file(const base::Reader& bytes, std::string_view filename,
                                                    const InspectOptions& options = {});

struct Contents {
    std::vector<ElfMember> elves;  // sorted by name, device code included; only files that could be parsed
    GpuFacts gpu;
    bool has_foreign_programs = false;  // or libraries: of Windows or macOS
};

// `record` may be null: RECORD cannot be read, and the findings already say so.
[[nodiscard]] base::Result<Contents> check_contents(const base::Reader& bytes, const Frame& frame,
                                                    const RecordCheck* record, const InspectOptions& options,
                                                    Findings& findings);

// Sets `sure_imports`, `needed_surely`, `needed_maybe`, `needed_later`, `avx_code`, `avx512_code`,
// `sve_code`, `executable_stack`, `pypy_names` and `pypy_later` of `facts`, whose requirements it reads; none
// where a limit is reached.
void gather_import_facts(const base::Reader& bytes, const Frame& frame, const wheel::WheelFilename& filename,
                         const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                         Facts& facts);

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

// Says whether PKG-INFO holds for every wheel that is built from the sdist (PEP 643): Metadata-Version 2.2 or
// newer, and no field is Dynamic. Only then may an index offer it as the file's metadata.
[[nodiscard]] bool has_static_metadata(const wheel::Metadata& metadata);

[[nodiscard]] std::string variant_filename(wheel::WheelFilename filename, const std::string& label);

// Writes it: equal bytes of equal wheels. `against` is the version of another package that it requires with
// its local version, "2.9.0+cu126.gh200"; the variant requires it without. Errors: those of reading and of
// `write`, and "variant.not_a_wheel": its members cannot be read, or are signed.
[[nodiscard]] base::Status write_variant_wheel(const base::Reader& bytes,
                                               const wheel::WheelFilename& filename,
                                               const wheel::LabelledVariant& variant,
                                               std::string_view against, const ZipWriter::Write& write);

}  // namespace wheelyard::inspect
