// What kind of library a DT_NEEDED name is: whether it comes along, belongs to every Linux, or to CUDA, ROCm,
// MPI, torch or Python, which are installed by other means. One table, by the beginning of the name.
#pragma once

#include <optional>
#include <string_view>

namespace wheelyard::inspect {

// In the order of reports.
enum class LibraryKind { inside, system, cuda, rocm, mpi, network, torch, python, unknown };
[[nodiscard]] std::string_view library_kind_text(LibraryKind kind);

// Of a library that the wheel does not contain: never `inside`. `library` is a file name, "libcudart.so.12";
// `system` is what any manylinux policy or musl allows.
[[nodiscard]] LibraryKind library_kind(std::string_view library);

// Of the C libraries, by the names that programs and libraries need.
[[nodiscard]] bool is_musl(std::string_view library);          // libc.musl-x86_64.so.1, ld-musl-…, libc.so
[[nodiscard]] bool is_glibc_loader(std::string_view library);  // ld-linux-…, ld64.so.…: its dynamic linker
[[nodiscard]] bool is_glibc(std::string_view library);         // that one and libc.so.6
// Those, and what else glibc installs with the version of its own: libm.so.6, libpthread.so.0, …
[[nodiscard]] bool is_part_of_glibc(std::string_view library);

[[nodiscard]] std::string_view base_name(std::string_view path);  // behind its last slash

// What follows $ORIGIN in a search path: "/../lib"; nothing where the path does not begin with it. The
// dynamic linker takes "$ORIGINAL" for no such beginning.
[[nodiscard]] std::optional<std::string_view> after_origin(std::string_view path);

}  // namespace wheelyard::inspect
