#include "lib/inspect/truth/python_truth.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "lib/base/text.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {
namespace {

// ".cpython-312-aarch64-linux-gnu.so": the EXT_SUFFIX of the only Python that imports the module (PEP 3149).
struct Suffix {
    std::string abi;       // "cp312", "cp313t", "pypy310_pp73", "abi3"
    std::string platform;  // "aarch64-linux-gnu"; may be empty
};
std::optional<Suffix> suffix_of(std::string_view path) {
    std::string_view file = base_name(path);
    if (!file.ends_with(".so")) return std::nullopt;
    file.remove_suffix(3);
    const auto dot = file.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view part = file.substr(dot + 1);
    if (part == "abi3" || part == "abi3t") return Suffix{std::string(part), {}};
    constexpr std::string_view cpython = "cpython-", pypy = "pypy";
    if (part.starts_with(cpython)) {
        const std::string_view rest = part.substr(cpython.size());
        const std::size_t dash = std::min(rest.find('-'), rest.size());
        const std::string_view platform = dash < rest.size() ? rest.substr(dash + 1) : std::string_view();
        return Suffix{"cp" + std::string(rest.substr(0, dash)), std::string(platform)};
    }
    if (part.starts_with(pypy) && part.find("-pp") != std::string_view::npos) {
        const std::size_t second = part.find('-', part.find('-') + 1);
        const std::string_view platform =
            second == std::string_view::npos ? std::string_view() : part.substr(second + 1);
        return Suffix{base::replace_all(part.substr(0, second), "-", "_"), std::string(platform)};
    }
    return std::nullopt;
}

// The machine of a suffix's platform, as in platform tags; empty if the mapping is unknown.
std::string machine_of(std::string_view platform) {
    struct Row {
        std::string_view prefix, machine;
    };
    static constexpr Row rows[] = {
        {"x86_64-linux", "x86_64"},          {"aarch64-linux", "aarch64"}, {"i386-linux", "i686"},
        {"powerpc64le-linux", "ppc64le"},    {"s390x-linux", "s390x"},     {"riscv64-linux", "riscv64"},
        {"loongarch64-linux", "loongarch64"}};
    for (const Row& row : rows)
        if (platform.starts_with(row.prefix)) return std::string(row.machine);
    return {};
}

std::set<std::string> abis_of(const wheel::WheelFilename& filename) {
    std::set<std::string> abis;
    for (const auto& tag : filename.tags)
        abis.insert(tag.abi);
    return abis;
}

bool is_specific(std::string_view abi) {
    return abi.starts_with("cp") || abi.starts_with("pypy");
}
bool is_stable(std::string_view abi) {
    return abi == "abi3" || abi == "abi3t";
}
bool is_free_threaded(std::string_view abi) {
    return abi.starts_with("cp") && abi.ends_with('t');
}

// Checked only if every tag is for one specific Python: other wheels may contain modules for several.
bool fits(const Suffix& suffix, const std::set<std::string>& abis) {
    if (std::all_of(abis.begin(), abis.end(), is_free_threaded)) {
        if (suffix.abi == "abi3") return false;  // free-threaded Pythons do not import abi3 modules
    }
    if (is_stable(suffix.abi) || !std::all_of(abis.begin(), abis.end(), is_specific)) return true;
    return abis.count(suffix.abi) != 0 || abis.count(suffix.abi + "m") != 0;
}

void check_suffixes(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                    Findings& findings) {
    const std::set<std::string> abis = abis_of(filename);
    std::set<std::string> machines;
    bool only_manylinux = true;
    for (const std::string& text : filename.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (!platform.machine.empty()) machines.insert(platform.machine);
        only_manylinux = only_manylinux && platform.kind == wheel::PlatformKind::manylinux;
    }
    std::set<std::string> pythons;
    for (const ElfMember& member : elves) {
        const auto suffix = suffix_of(member.name);
        if (suffix && is_specific(suffix->abi)) pythons.insert(suffix->abi);
    }
    const bool stable = !abis.empty() && std::all_of(abis.begin(), abis.end(), is_stable);
    const std::string expected = base::join({abis.begin(), abis.end()}, " or ");
    for (const ElfMember& member : elves) {
        const auto suffix = suffix_of(member.name);
        if (!suffix || member.elf.is_device) continue;
        // abi3 promises every later Python; modules for several Pythons in one wheel can satisfy that.
        const bool one_python_only = stable && pythons.size() == 1 && is_specific(suffix->abi);
        if (!fits(*suffix, abis) || one_python_only) {
            findings.add("elf.python_mismatch", member.name, expected, suffix->abi);
            continue;
        }
        const std::string machine = machine_of(suffix->platform);
        const bool other_machine = !machine.empty() && !machines.empty() && machines.count(machine) == 0;
        const bool other_libc = only_manylinux && suffix->platform.ends_with("-musl");
        if (other_machine || other_libc) {
            findings.add("elf.python_mismatch", member.name,
                         "a suffix for " + base::join(filename.platforms, " or "), suffix->platform);
        }
    }
}

// "cp39" → 9: the oldest Python 3 that the tags promise, if all are abi3 tags.
std::optional<unsigned> oldest_stable_minor(const wheel::WheelFilename& filename) {
    std::optional<unsigned> oldest;
    for (const auto& tag : filename.tags) {
        if (!is_stable(tag.abi)) return std::nullopt;
        if (!tag.python.starts_with("cp3")) return std::nullopt;
        const auto minor = base::parse_decimal(std::string_view(tag.python).substr(3));
        if (!minor || *minor > 1000) return std::nullopt;
        oldest = std::min(oldest.value_or(1000), static_cast<unsigned>(*minor));
    }
    return oldest;
}

void check_stable_abi(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                      Findings& findings) {
    const auto oldest = oldest_stable_minor(filename);
    if (!oldest) return;
    const std::string expected = "symbols of Python 3." + std::to_string(*oldest) + ", as in the tag";
    for (const ElfMember& member : elves) {
        const PythonImports& python = member.elf.symbols.python;
        if (member.elf.is_device || python.count == 0) continue;
        if (python.exported_since > *oldest) {
            findings.add(
                "elf.abi3_too_new", member.name, expected,
                python.newest_exported + ", new in Python 3." + std::to_string(python.exported_since));
        }
        if (!python.outside.empty()) {
            findings.add("elf.abi3_not_limited", member.name, "symbols of the Stable ABI",
                         base::join(python.outside, ", "));
        } else if (python.stable_since > *oldest && python.exported_since <= *oldest) {
            findings.add("elf.abi3_not_limited", member.name,
                         "symbols of Python 3." + std::to_string(*oldest) + "'s Stable ABI",
                         python.newest + ", part of it since 3." + std::to_string(python.stable_since));
        }
    }
}

}  // namespace

void check_python_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                        Findings& findings) {
    check_suffixes(elves, filename, findings);
    check_stable_abi(elves, filename, findings);
}

}  // namespace wheelyard::inspect
