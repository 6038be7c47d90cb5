// Classifies DT_NEEDED libraries: in the wheel, on every Linux system, or from CUDA, ROCm, OpenCL, Intel,
// MPI, a BLAS, torch or Python, which users install separately. A table of name prefixes, after those of the accelerators'
// rows (lib/accelerator).
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::inspect {

enum class LibraryKind { system, accelerator, opencl, intel, mpi, network, blas, torch, python, unknown };

// The kind of a library that the wheel does not contain. `library` is a file name, "libcudart.so.12". `system`: any
// manylinux policy or musl allows it.
[[nodiscard]] LibraryKind library_kind(std::string_view library);
// The kind as `needed` in the facts spells it: "system", "mpi"; for an accelerator the name of its row, "cuda".
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
// Whether a needed library is named by a path that does not begin with $ORIGIN. A name with a slash is opened as it is, and
// never searched for (ld.so(8)).
[[nodiscard]] bool is_path_outside(std::string_view library);

}  // namespace wheelyard::inspect
