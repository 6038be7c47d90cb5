// The GPU of an ELF file that is device code itself: a cubin of CUDA, or a code object of ROCm.
//
//     cubin        e_machine 190 (EM_CUDA); the SM in e_flags, whose layout depends on EI_ABIVERSION:
//                    7  bits 0 to 7; bit 11: this SM only (`a`)                            (CUDA 12 below sm_100)
//                    8  bits 8 to 15; bit 3: this SM only, of CUDA 12; CUDA 13 says so in the section `.nv.compat`
//     .nv.compat   records: u8 format, u8 attribute, then format 1: u8, u8; 2: u8 value, u8; 3: u16 value;
//                  4: u16 length and as many bytes. Attribute 9: value 1 is this SM only
//     code object  e_machine 224 (EM_AMDGPU); the processor in bits 0 to 7 of e_flags, by a table; sramecc and xnack
//                  by the version of the code object, which is EI_ABIVERSION + 2 where EI_OSABI is 64 (HSA)
//
// Sources: cubins of ptxas 12.9.86 and 13.5.37 for all their targets, beside the names that cuobjdump 13.5.37 lists
// (tests/support/gpu_objects); LLVM's "User Guide for AMDGPU Backend", "ELF Code Object". Code for a family (`sm_100f`) is
// written as code for its first SM, which runs on the same GPUs.
#pragma once

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf.hpp"
#include "lib/inspect/gpu/gpu_code.hpp"

namespace wheelyard::inspect {

// Adds the GPU to `facts`, or why it is unknown; nothing if `elf` is no device code. An Error is an I/O error.
[[nodiscard]] base::Status read_device_object(const base::Reader& bytes, const ElfFacts& elf,
                                              GpuFacts& facts);

}  // namespace wheelyard::inspect
