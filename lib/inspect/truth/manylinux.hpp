// The guarantees of a manylinux tag besides glibc: the versions of the C++ runtime and of a few other
// libraries, and the libraries that every such system has (PEP 513, 571, 599, 600). PEP 600 refers to "the
// mainstream distributions of that time"; published wheels follow auditwheel's policy table. These are its
// values (auditwheel 6.8, manylinux-policy.json), so that both determine the same tag.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/elf/elf.hpp"

namespace wheelyard::inspect {

// A parsed symbol version, "GLIBCXX_3.4.21"; nullopt for names that are not versions ("GLIBC_PRIVATE").
// "GLIBC_ABI_DT_RELR" parses as GLIBC 2.36.
struct SymbolVersion {
    std::string prefix;
    std::vector<std::uint64_t> numbers;
};
[[nodiscard]] std::optional<SymbolVersion> parse_symbol_version(std::string_view text);
// Says whether a need is of a glibc version that no tag guarantees, such as GLIBC_PRIVATE. As in auditwheel,
// the loader's are none: every libc.so.6 needs them.
[[nodiscard]] bool is_private_to_glibc(const ElfVersionNeed& need);
[[nodiscard]] std::string dotted(const std::vector<std::uint64_t>& numbers);

// Highest version per prefix.
using VersionFloors = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;
// The prefixes whose highest version is a fact: those that policies limit, and those of GCC's other
// libraries, which a system has in the version of its compiler.
struct FloorPrefix {
    std::string_view prefix;
    std::string_view library;  // only of libraries whose name begins so; empty: of any
};
inline constexpr FloorPrefix floor_prefixes[] = {{"GLIBC", ""},
                                                 {"GLIBCXX", ""},
                                                 {"CXXABI", ""},
                                                 {"GCC", ""},
                                                 {"LIBATOMIC", ""},
                                                 {"ZLIB", ""},
                                                 {"GOMP", "libgomp."},
                                                 {"OMP", "libgomp."},  // LLVM's libomp has these names too
                                                 {"OACC", "libgomp."},
                                                 {"GOACC", "libgomp."},
                                                 {"GFORTRAN", "libgfortran."},
                                                 {"QUADMATH", "libquadmath."}};

// The newest versions besides glibc's that every system with glibc 2.`glibc_minor` and `machine` has; nullopt
// if there is no policy as new, so that nothing is reported. Between two policies the newer one applies: a
// version is reported only if no such system guarantees it.
[[nodiscard]] std::optional<VersionFloors> manylinux_limits(int glibc_minor, std::string_view machine);

// A glibc newer than that of every policy.
inline constexpr int newest_glibc_minor = 1000;

// Says whether every system with glibc 2.`glibc_minor` (default: any policy) has this library.
[[nodiscard]] bool is_policy_library(std::string_view library, int glibc_minor = newest_glibc_minor);
// Says whether musllinux guarantees it (PEP 656: musl only; auditwheel adds zlib).
[[nodiscard]] bool is_musllinux_library(std::string_view library);

// The oldest manylinux tag with glibc 2.`above_minor + 1` or newer whose policy allows these versions and
// libraries ("manylinux_2_17_x86_64"); "linux_<machine>" if there is none.
[[nodiscard]] std::string min_manylinux(const VersionFloors& floors,
                                        const std::vector<std::string>& external_libraries,
                                        const std::string& machine, int above_minor = 0);

// The musllinux tag that allows these libraries: musl's symbols have no versions, so only the image in which
// the files were built shows that an older tag would do. "linux_<machine>" if none allows them.
[[nodiscard]] std::string newest_musllinux(const std::vector<std::string>& external_libraries,
                                           const std::string& machine);

}  // namespace wheelyard::inspect
