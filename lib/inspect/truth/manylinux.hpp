// What a manylinux tag promises beside glibc: how new the C++ runtime and a few other libraries may be, and
// which libraries every such system has (PEP 513, 571, 599, 600). PEP 600 leaves the details to "the
// mainstream distributions of that time"; auditwheel's policy table is the one that PyPI's wheels are made
// by, and these are its values (auditwheel 6.8, manylinux-policy.json), so that both come to the same tag.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::inspect {

// "GLIBCXX_3.4.21" taken apart; nothing for names that are no versions ("GLIBC_PRIVATE"). A name that stands
// for a version is that version: "GLIBC_ABI_DT_RELR" is GLIBC 2.36.
struct SymbolVersion {
    std::string prefix;
    std::vector<std::uint64_t> numbers;
};
[[nodiscard]] std::optional<SymbolVersion> parse_symbol_version(std::string_view text);
[[nodiscard]] std::string dotted(const std::vector<std::uint64_t>& numbers);

// Highest version per prefix.
using VersionFloors = std::map<std::string, std::vector<std::uint64_t>, std::less<>>;
// The prefixes that policies speak of.
inline constexpr std::string_view floor_prefixes[] = {"GLIBC", "GLIBCXX",   "CXXABI",
                                                      "GCC",   "LIBATOMIC", "ZLIB"};

// The newest versions beside glibc's that a system of glibc 2.`glibc_minor` and `machine` is sure to have;
// nothing where no policy is known that is as new, so that nothing can be held against the wheel. Between two
// policies the newer one's values count: what might be there is not called a lie.
[[nodiscard]] std::optional<VersionFloors> manylinux_limits(int glibc_minor, std::string_view machine);

// Whether every system of glibc 2.`glibc_minor` has this library; any policy's where it is left out.
[[nodiscard]] bool is_policy_library(std::string_view library, int glibc_minor = 1000);
// Whether musllinux has it (PEP 656: musl alone; auditwheel adds zlib).
[[nodiscard]] bool is_musllinux_library(std::string_view library);

// The oldest manylinux tag of glibc 2.`above_minor + 1` or newer whose policy allows these versions and
// libraries
// ("manylinux_2_17_x86_64"), or "linux_<machine>" where none does.
[[nodiscard]] std::string oldest_manylinux(const VersionFloors& floors,
                                           const std::vector<std::string>& external_libraries,
                                           const std::string& machine, int above_minor = 0);

}  // namespace wheelyard::inspect
