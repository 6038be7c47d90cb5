// Classifies DT_NEEDED libraries: in the wheel, on every Linux system, or from CUDA, ROCm, OpenCL, Intel,
// MPI, a BLAS, torch or Python, which users install separately. A table of name prefixes, after those of the
// accelerators' rows (lib/accelerator).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lib/inspect/truth/facts.hpp"

namespace wheelyard::inspect {

enum class LibraryKind { system, accelerator, opencl, intel, mpi, network, blas, torch, python, unknown };

// The kind of a library that the wheel does not contain. `library` is a file name, "libcudart.so.12".
// `system`: any manylinux policy or musl allows it.
[[nodiscard]] LibraryKind library_kind(std::string_view library);
// The kind as `needed` in the facts spells it: "system", "mpi"; for an accelerator the name of its row,
// "cuda".
[[nodiscard]] std::string_view library_kind_text(std::string_view library);

// C libraries, by the names in DT_NEEDED.
[[nodiscard]] bool is_musl(std::string_view library);          // libc.musl-x86_64.so.1, ld-musl-…, libc.so
[[nodiscard]] bool is_glibc_loader(std::string_view library);  // ld-linux-…, ld64.so.…: the dynamic linker
[[nodiscard]] bool is_glibc(std::string_view library);         // the dynamic linker and libc.so.6
// is_glibc, or another library that glibc installs: libm.so.6, libpthread.so.0, …
[[nodiscard]] bool is_part_of_glibc(std::string_view library);

// The part of a search path after $ORIGIN: "/../lib"; nullopt if it does not begin with $ORIGIN. Like the
// dynamic linker, this does not match "$ORIGINAL".
[[nodiscard]] std::optional<std::string_view> after_origin(std::string_view path);
// Says whether a needed library is named by a path that does not begin with $ORIGIN. A name with a slash is
// opened as it is, and never searched for (ld.so(8)).
[[nodiscard]] bool is_path_outside(std::string_view library);

// The suffix in an extension module's file name: the EXT_SUFFIX of the only Python that imports it (PEP
// 3149).
//
//     _six.cpython-312-aarch64-linux-gnu.so      _six.cpython-312-arm-linux-musleabihf.so      _six.abi3.so

struct ModuleSuffix {
    std::string abi;       // "cp312", "cp313t", "pypy310_pp73", "abi3"
    std::string platform;  // "aarch64-linux-gnu"; may be empty

    // The machine of the platform, as in platform tags; empty if the mapping is unknown.
    [[nodiscard]] std::string machine() const;
    // "gnu" and "musl" begin the last word on every machine: gnueabihf, gnux32, musleabihf.
    [[nodiscard]] bool names_musl() const;
    // CPython names glibc in its suffix on musl too, until 3.10.
    [[nodiscard]] bool names_glibc() const;
};
[[nodiscard]] std::optional<ModuleSuffix> module_suffix(std::string_view path);

// Derives the environment module of a library search path from the path. Clusters install software as
// …/NAME/VERSION/lib (EasyBuild, manual trees) or …/NAME-VERSION[-HASH]/lib (Spack, ROCm) and name the module
// NAME/VERSION.
//
//     /cvmfs/…/Compiler/gcc12/cudacore/12.2.2/lib64          cudacore/12.2.2
//     /apps/easybuild/software/OpenMPI/4.1.5-GCC-12.3.0/lib  OpenMPI/4.1.5-GCC-12.3.0
//     /opt/cray/pe/mpich/8.1.27/ofi/gnu/9.1/lib              cray-mpich/8.1.27
//     /opt/spack/…/gcc-12.2.0/hdf5-1.14.0-<hash>/lib         hdf5/1.14.0

// Empty if the path has no such form, is not absolute, or belongs to the system or a user (/usr, /home …).
[[nodiscard]] std::string module_of_path(std::string_view path);

// The C libraries that an ELF file is linked to. glibc's and musl's own names differ from each other;
// Android's bionic is called libc.so like musl on the systems that link by that name.

// "glibc", "musl", "bionic"; empty: the file names none. The suffix of a module for musl counts too: such
// modules may need no library at all.
[[nodiscard]] std::set<std::string_view> c_libraries(const ElfMember& member);

}  // namespace wheelyard::inspect
