// Finds the GPUs that the device code in an ELF file was compiled for. CUDA uses the sections `.nv_fatbin` and
// `__nv_relfatbin` (layout: fatbin.hpp), HIP `.hip_fatbin` (hip_bundle.hpp). The row of an accelerator whose code is not read
// names its sections. A file for a GPU is read as device_object.cpp says; files that are no ELF files: loose_code.cpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/files/file.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/elf/elf.hpp"

namespace wheelyard::inspect {

struct GpuFacts {
    // The names of each list of device code (lib/accelerator): cuda_sm: "sm_90", "sm_90a", "sm_103f"; cuda_ptx:
    // "compute_90"; hip_gfx: "gfx90a:xnack-", "gfx9-4-generic", "amdgcnspirv".
    std::map<std::string, std::set<std::string>, std::less<>> code = {};
    std::set<std::string> not_read =
        {};                       // the kinds of accelerators whose device code is there and is not read
    std::string hip_unread = {};  // why the GPUs of a compressed bundle are unknown; usually empty
    std::string unread = {};      // the same of code in an unknown form

    [[nodiscard]] const std::set<std::string>& names(std::string_view fact) const;  // empty: there are none
    // Notes that code of this kind of accelerator is there whose GPUs are unknown.
    void add_unread(std::string_view kind, std::string why);
};

// Adds the contents of the sections of `elf` to `facts`, or its own GPU if it is device code. Error "gpu.malformed" if a section cannot be walked
// to its end (names found so far are kept); any other error is an I/O error.
[[nodiscard]] base::Status read_gpu_code(const base::Reader& bytes, const ElfFacts& elf, GpuFacts& facts);

// Adds the GPU to `facts`, or why it is unknown; nothing if `elf` is no device code. An Error is an I/O error.
[[nodiscard]] base::Status read_device_object(const base::Reader& bytes, const ElfFacts& elf,
                                              GpuFacts& facts);

// Whether read_loose_code() has something to say about a file of this name that begins with `begin`, at least 32 bytes
// or all of it.
[[nodiscard]] bool is_loose_code(std::string_view name, std::string_view begin);

// Adds the GPUs to `facts`, or why they are unknown. Errors as read_gpu_code().
[[nodiscard]] base::Status read_loose_code(const base::Reader& bytes, std::string_view name, GpuFacts& facts);

}  // namespace wheelyard::inspect
