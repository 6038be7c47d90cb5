// Compares the promises of the file name's tags with the ELF files in the wheel; installers do not check
// this.
#pragma once

#include <string_view>
#include <vector>

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/truth/promise.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// Checks the tags against the ELF files that are loaded and the gathered facts, including device code.
void check_tag_truth(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                     const RequiredLibraries& required, const wheel::WheelFilename& filename,
                     const Promise& promise, const Facts& facts, const Policy& policy,
                     bool has_foreign_programs, Findings& findings);

// Checks facts.device_code. If device code could not be read (findings "gpu.compressed",
// "gpu.malformed", "gpu.not_read"), missing code is "gpu.unproven", which a person decides.
void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings);

// Whether any code in `facts` runs on the GPU `architecture`, by the rules of its row in lib/accelerator.
[[nodiscard]] bool runs_on(const Facts& facts, std::string_view architecture);

// Checks glibc, musl and the C++ runtime: which C library, and the versions of symbols.
void check_runtime(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                   Findings& findings);
// Reports DT_NEEDED libraries that a manylinux or musllinux tag does not allow.
void check_needed(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                  const RequiredLibraries& required, Findings& findings);
void check_search_paths(const ElfMember& member, const Policy& policy, Findings& findings);

// Compares extension modules with the Python in the tags: the file's suffix and, for abi3, the imported
// symbols.
void check_python_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                        const Promise& promise, Findings& findings);

// Checks facts.torch_requires: some version that it allows must have all symbols that the ELF files import.
void check_torch_truth(const std::vector<ElfMember>& elves, const Facts& facts, Findings& findings);

// Holds a variant's properties against the wheel's code: the level of x86-64, and the GPUs of the accelerators whose
// variants have known words.
// Finding `variant.promise`; `variant.unproven` of what the facts do not say: a level where no file has a note, GPUs where no
// device code of their kind is there, or some of it was not read.
void check_variant_truth(const wheel::Variant& variant, const Facts& facts, Findings& findings);

}  // namespace wheelyard::inspect
