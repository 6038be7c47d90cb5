#include "lib/inspect/truth/manylinux.hpp"

#include <algorithm>
#include <iterator>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/libraries.hpp"

namespace wheelyard::inspect {
namespace {

struct PolicyRow {
    int glibc_minor;
    std::string_view machine;                                // empty: all machines without a row of their own
    std::string_view glibcxx, cxxabi, gcc, libatomic, zlib;  // empty: no version allowed
};
// Ascending; a machine's own row precedes the general row for the same glibc.
constexpr PolicyRow policy_rows[] = {
    {5, "", "3.4.8", "1.3.1", "4.2.0", "", ""},
    {12, "i686", "3.4.13", "1.3.3", "4.5.0", "", "1.2.2.4"},
    {12, "", "3.4.13", "1.3.3", "4.3.0", "", "1.2.2.4"},
    {17, "x86_64", "3.4.19", "1.3.7", "4.8.0", "", "1.2.5.2"},
    {17, "i686", "3.4.19", "1.3.7", "4.8.0", "1.0", "1.2.5.2"},
    {17, "ppc64", "3.4.19", "1.3.7", "4.8.0", "1.0", "1.2.5.2"},
    {17, "s390x", "3.4.19", "1.3.7", "4.7.0", "", "1.2.5.2"},
    {17, "", "3.4.19", "1.3.7", "4.7.0", "1.0", "1.2.5.2"},
    {24, "x86_64", "3.4.22", "1.3.10", "4.8.0", "1.2", "1.2.5.2"},
    {24, "i686", "3.4.22", "1.3.10", "4.8.0", "1.2", "1.2.5.2"},
    {24, "", "3.4.22", "1.3.10", "4.7.0", "1.2", "1.2.5.2"},
    {26, "x86_64", "3.4.22", "1.3.10", "4.8.0", "1.2", "1.2.5.2"},
    {26, "aarch64", "3.4.24", "1.3.11", "7.0.0", "1.2", "1.2.5.2"},
    {26, "", "3.4.24", "1.3.11", "7.0.0", "1.2", "1.2.9"},
    {28, "", "3.4.24", "1.3.11", "7.0.0", "1.2", "1.2.9"},
    {31, "", "3.4.28", "1.3.12", "7.0.0", "1.2", "1.2.9"},
    {34, "aarch64", "3.4.29", "1.3.13", "11.0", "1.2", "1.2.9"},
    {34, "", "3.4.29", "1.3.13", "7.0.0", "1.2", "1.2.9"},
    {35, "x86_64", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.9"},
    {35, "i686", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.9"},
    {35, "aarch64", "3.4.30", "1.3.13", "11.0", "1.2", "1.2.9"},
    {35, "", "3.4.30", "1.3.13", "7.0.0", "1.2", "1.2.9"},
    {36, "x86_64", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.9"},
    {36, "i686", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.12"},
    {36, "aarch64", "3.4.30", "1.3.13", "11.0", "1.2", "1.2.9"},
    {36, "", "3.4.30", "1.3.13", "7.0.0", "1.2", "1.2.9"},
    {38, "x86_64", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.12"},
    {38, "i686", "3.4.30", "1.3.13", "12.0.0", "1.2", "1.2.12"},
    {38, "aarch64", "3.4.30", "1.3.13", "11.0", "1.2", "1.2.12"},
    {38, "", "3.4.30", "1.3.13", "7.0.0", "1.2", "1.2.12"},
    {39, "loongarch64", "3.4.32", "1.3.15", "14.0.0", "1.2", "1.2.12"},
    {41, "", "3.4.33", "1.3.15", "14.0.0", "1.2", "1.2.12"},
};
// The glibc versions for which auditwheel has policies, and the first policy of each machine.
constexpr int policy_minors[] = {5, 12, 17, 24, 26, 27, 28, 31, 34, 35, 36, 37, 38, 39, 40, 41};
struct FirstPolicy {
    std::string_view machine;
    int glibc_minor;
};
constexpr FirstPolicy first_policies[] = {{"x86_64", 5},  {"i686", 5},     {"aarch64", 17},
                                          {"ppc64", 17},  {"ppc64le", 17}, {"s390x", 17},
                                          {"armv7l", 17}, {"riscv64", 31}, {"loongarch64", 36}};

struct PolicyLibrary {
    std::string_view name;
    int from_glibc_minor = 5;
};
constexpr PolicyLibrary policy_libraries[] = {
    {"libatomic.so.1"},   {"libgcc_s.so.1"},  {"libstdc++.so.6"},      {"libm.so.6"},
    {"libmvec.so.1", 24}, {"libanl.so.1"},    {"libdl.so.2"},          {"librt.so.1"},
    {"libc.so.6"},        {"libnsl.so.1"},    {"libutil.so.1"},        {"libpthread.so.0"},
    {"libX11.so.6"},      {"libXext.so.6"},   {"libXrender.so.1"},     {"libICE.so.6"},
    {"libSM.so.6"},       {"libGL.so.1"},     {"libgobject-2.0.so.0"}, {"libgthread-2.0.so.0"},
    {"libglib-2.0.so.0"}, {"libresolv.so.2"}, {"libexpat.so.1", 12},   {"libz.so.1"},
};

std::vector<std::uint64_t> numbers_of(std::string_view version) {
    std::vector<std::uint64_t> numbers;
    if (version.empty()) return numbers;
    for (const std::string_view part : base::split(version, '.'))
        numbers.push_back(base::parse_decimal(part).value_or(0));
    return numbers;
}

bool allows(const VersionFloors& limits, const VersionFloors& floors) {
    return std::all_of(floors.begin(), floors.end(), [&limits](const auto& floor) {
        const auto limit = limits.find(floor.first);
        return limit == limits.end() || floor.second <= limit->second;
    });
}

}  // namespace

std::optional<SymbolVersion> parse_symbol_version(std::string_view text) {
    // Linkers add this version to libraries with packed relative relocations, so that an older glibc rejects
    // them (release notes of glibc 2.36).
    if (text == "GLIBC_ABI_DT_RELR") return SymbolVersion{"GLIBC", {2, 36}};
    const auto underscore = text.rfind('_');
    if (underscore == std::string_view::npos) return std::nullopt;
    SymbolVersion version{std::string(text.substr(0, underscore)), {}};
    for (const std::string_view part : base::split(text.substr(underscore + 1), '.')) {
        const auto number = base::parse_decimal(part);
        if (!number) return std::nullopt;
        version.numbers.push_back(*number);
    }
    return version;
}

bool is_private_to_glibc(const ElfVersionNeed& need) {
    return need.version.starts_with("GLIBC_") && !parse_symbol_version(need.version) &&
           !is_glibc_loader(need.file);
}

std::string dotted(const std::vector<std::uint64_t>& numbers) {
    std::vector<std::string> parts;
    for (const auto number : numbers)
        parts.push_back(std::to_string(number));
    return base::join(parts, ".");
}

std::optional<VersionFloors> manylinux_limits(int glibc_minor, std::string_view machine) {
    const auto* const row =
        std::find_if(std::begin(policy_rows), std::end(policy_rows), [&](const PolicyRow& candidate) {
            return candidate.glibc_minor >= glibc_minor &&
                   (candidate.machine.empty() || candidate.machine == machine);
        });
    if (row == std::end(policy_rows)) return std::nullopt;
    return VersionFloors{{"GLIBCXX", numbers_of(row->glibcxx)},
                         {"CXXABI", numbers_of(row->cxxabi)},
                         {"GCC", numbers_of(row->gcc)},
                         {"LIBATOMIC", numbers_of(row->libatomic)},
                         {"ZLIB", numbers_of(row->zlib)}};
}

bool is_policy_library(std::string_view library, int glibc_minor) {
    return is_glibc_loader(library) ||
           std::any_of(std::begin(policy_libraries), std::end(policy_libraries),
                       [&](const PolicyLibrary& row) {
                           return row.name == library && row.from_glibc_minor <= glibc_minor;
                       });
}

bool is_musllinux_library(std::string_view library) {
    return library.starts_with("libc.musl-") || library.starts_with("ld-musl-") || library == "libc.so" ||
           library == "libz.so.1";
}

std::string newest_musllinux(const std::vector<std::string>& external_libraries, const std::string& machine) {
    const bool has_libraries =
        std::all_of(external_libraries.begin(), external_libraries.end(), is_musllinux_library);
    return (has_libraries ? "musllinux_1_2_" : "linux_") + machine;
}

std::string min_manylinux(const VersionFloors& floors, const std::vector<std::string>& external_libraries,
                          const std::string& machine, int above_minor) {
    const auto* const first =
        std::find_if(std::begin(first_policies), std::end(first_policies),
                     [&machine](const FirstPolicy& row) { return row.machine == machine; });
    for (const int minor : policy_minors) {
        if (first == std::end(first_policies) || minor < first->glibc_minor || minor <= above_minor) continue;
        auto limits = manylinux_limits(minor, machine);
        if (!limits) break;
        limits->insert_or_assign("GLIBC", std::vector<std::uint64_t>{2, static_cast<std::uint64_t>(minor)});
        const bool has_libraries =
            std::all_of(external_libraries.begin(), external_libraries.end(),
                        [minor](const std::string& library) { return is_policy_library(library, minor); });
        if (has_libraries && allows(*limits, floors))
            return "manylinux_2_" + std::to_string(minor) + "_" + machine;
    }
    return "linux_" + machine;
}

}  // namespace wheelyard::inspect
