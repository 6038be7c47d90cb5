// Why two ELF files differ, section by section. The dynamic linker's view does not matter here; a file whose section
// headers cannot be read is compared as plain bytes by the caller.
#pragma once

#include <vector>

#include "builder/compare/explain_bytes.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// One entry for each cause and section. Errors: "elf.malformed" (kind malformed), and those of the reader.
[[nodiscard]] base::Result<std::vector<Evidence>> explain_elf(const base::Reader& recorded,
                                                              const base::Reader& again,
                                                              const BuildNames& names);

}  // namespace wheelyard::builder
