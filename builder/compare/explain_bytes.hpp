// Why two byte strings differ: compares their texts (lines, or printable strings in binary bytes), once without the
// folders of the two builds and once without times. Pure. The bytes are untrusted; limits.hpp bounds the work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "builder/compare/causes.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_evidence_bytes = 160;  // of a differing text: one line of a terminal or two

// Bytes that are explained are read into memory, twice: a member that is no ELF file, or one section of an ELF file.
// Larger ones are reported as different, without a cause. torch's largest section has 130 MiB.
inline constexpr std::uint64_t max_explained_bytes = 256 * base::mib;

// What the bytes of each build may contain its own path: the names of the attempt's folder and of its build tree.
struct BuildNames {
    std::vector<std::string> recorded;
    std::vector<std::string> again;
};

// A difference and its evidence.
struct Evidence {
    Cause cause = Cause::bytes;
    std::string where;  // "line 12", a section's name; may be empty
    std::string recorded;
    std::string again;
};

// One entry for each cause that was found; Cause::bytes alone if none was. `recorded` != `again`.
[[nodiscard]] std::vector<Evidence> explain_bytes(std::string_view recorded, std::string_view again,
                                                  const BuildNames& names);

// `text` with every name replaced by the same mark.
[[nodiscard]] std::string without_names(std::string_view text, const std::vector<std::string>& names);
// `text` with every date, time of day and number of seconds since 1970 replaced by that mark.
[[nodiscard]] std::string without_times(std::string_view text);

// Why two ELF files differ, section by section. The dynamic linker's view does not matter here; a file whose section
// headers cannot be read is compared as plain bytes by the caller.
// One entry for each cause and section. Errors: "elf.malformed" (kind malformed), and those of the reader.
[[nodiscard]] base::Result<std::vector<Evidence>> explain_elf(const base::Reader& recorded,
                                                              const base::Reader& again,
                                                              const BuildNames& names);

}  // namespace wheelyard::builder
