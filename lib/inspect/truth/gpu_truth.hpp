// Compares the GPU promises of the file name and of the index's policy with the device code in the wheel.
//
// A local version such as `+cu126`, `+cuda12.cudnn89`, `+pt24cu121` or `+rocm6.2` promises a GPU platform.
// Device code for it, a dependency on one of its libraries (a wheel may only call cuBLAS) or a bare device
// object satisfies the promise. Wheels without ELF files are exempt: pure companion packages share the local
// version of the package that they belong to.
//
// A policy's gpu_architectures lists the GPUs of the index's machines. A wheel with device code must run on
// every listed GPU of a vendor that it has code for, and on at least one. A wheel without device code runs
// everywhere. Code that is not read (lib/accelerator) is not checked.
#pragma once

#include <string_view>
#include <vector>

#include "lib/inspect/truth/elf_member.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// Checks facts.device_code. If device code could not be read (findings "gpu.compressed",
// "gpu.malformed", "gpu.not_read"), missing code is "gpu.unproven", which a person decides.
void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings);

// Whether any code in `facts` runs on the GPU `architecture`, by the rules of its row in lib/accelerator.
[[nodiscard]] bool runs_on(const Facts& facts, std::string_view architecture);

}  // namespace wheelyard::inspect
