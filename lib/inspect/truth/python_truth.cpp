// Compares extension modules with the Python in the tags.
#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {
namespace {

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
bool fits(const ModuleSuffix& suffix, const std::set<std::string>& abis) {
    if (std::all_of(abis.begin(), abis.end(), is_free_threaded)) {
        if (suffix.abi == "abi3") return false;  // free-threaded Pythons do not import abi3 modules
    }
    if (is_stable(suffix.abi) || !std::all_of(abis.begin(), abis.end(), is_specific)) return true;
    return abis.count(suffix.abi) != 0 || abis.count(suffix.abi + "m") != 0;
}

// What a suffix must name for the tags; empty if it does.
std::string wanted_platform(const ModuleSuffix& suffix, const Promise& promise) {
    const std::string machine = suffix.machine();
    if (!machine.empty() && !promise.machines.empty() && !promise.has_machine(machine))
        return "a suffix for " + base::join({promise.machines.begin(), promise.machines.end()}, " or ");
    const bool only_manylinux = promise.manylinux && !promise.musllinux && !promise.plain_linux;
    const bool only_musllinux = promise.musllinux && !promise.manylinux && !promise.plain_linux;
    if (only_manylinux && suffix.names_musl()) return "a suffix for glibc (gnu), or a musllinux tag";
    if (only_musllinux && suffix.names_glibc()) return "a suffix for musl, or a manylinux tag";
    return {};
}

// "six/_six" of "six/_six.cpython-311-x86_64-linux-gnu.so"
std::string_view without_suffix(std::string_view name) {
    return name.substr(0, name.find('.', name.rfind('/') + 1));
}

void check_suffixes(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                    const Promise& promise, Findings& findings) {
    const std::set<std::string> abis = abis_of(filename);
    std::set<std::string> pythons;
    for (const ElfMember& member : elves) {
        const auto suffix = module_suffix(member.name);
        if (suffix && is_specific(suffix->abi)) pythons.insert(suffix->abi);
    }
    const bool stable = !abis.empty() && std::all_of(abis.begin(), abis.end(), is_stable);
    const std::string expected = base::join({abis.begin(), abis.end()}, " or ");
    std::set<std::string_view> good;  // modules that the wheel has for its own Python, too
    for (const ElfMember& member : elves) {
        const auto suffix = module_suffix(member.name);
        if (suffix && fits(*suffix, abis)) good.insert(without_suffix(member.name));
    }
    for (const ElfMember& member : elves) {
        const auto suffix = module_suffix(member.name);
        if (!suffix || member.elf.is_device) continue;
        // abi3 promises every later Python; modules for several Pythons in one wheel can satisfy that.
        const bool one_python_only = stable && pythons.size() == 1 && is_specific(suffix->abi);
        if (!fits(*suffix, abis) && good.count(without_suffix(member.name)) != 0)
            continue;  // left over, never loaded
        if (!fits(*suffix, abis) || one_python_only) {
            findings.add("elf.python_mismatch", member.name, expected, suffix->abi);
            continue;
        }
        if (const std::string wanted = wanted_platform(*suffix, promise); !wanted.empty())
            findings.add("elf.python_mismatch", member.name, wanted, suffix->platform);
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
            constexpr std::size_t most_shown = 8;
            const auto shown_end =
                std::next(python.outside.begin(),
                          static_cast<std::ptrdiff_t>(std::min(python.outside.size(), most_shown)));
            findings.add("elf.abi3_not_limited", member.name, "symbols of the Stable ABI",
                         base::join({python.outside.begin(), shown_end}, ", "));
        } else if (python.stable_since > *oldest && python.exported_since <= *oldest) {
            findings.add("elf.abi3_not_limited", member.name,
                         "symbols of Python 3." + std::to_string(*oldest) + "'s Stable ABI",
                         python.newest + ", part of it since 3." + std::to_string(python.stable_since));
        }
    }
}

}  // namespace

void check_python_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                        const Promise& promise, Findings& findings) {
    check_suffixes(elves, filename, promise, findings);
    check_stable_abi(elves, filename, findings);
}

}  // namespace wheelyard::inspect
