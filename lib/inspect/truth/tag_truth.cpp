#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <set>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/truth/loaded_code.hpp"

namespace wheelyard::inspect {
namespace {

bool is_host_code(const ElfMember& member) {
    return !member.elf.is_device;
}

// Whether installers put the member among the modules, and not by way of platlib.
bool is_under_root(const ElfMember& member) {
    const InstalledPath place = installed_path(member.name);
    return place.folder == InstallFolder::site && place.scheme != "platlib";
}

// One helper for each platform, a program as selenium has or a library as interpret has: the modules start or open the one
// that fits, or do without. Extension modules are none.
bool are_helpers(const std::vector<ElfMember>& elves, bool has_foreign_programs) {
    std::set<std::string_view> machines;
    for (const ElfMember& member : elves) {
        if (!is_host_code(member)) continue;
        if (!is_program(member) && member.elf.symbols.python.count != 0) return false;
        machines.insert(member.elf.machine);
    }
    return has_foreign_programs || machines.size() > 1;
}

void check_presence(const std::vector<ElfMember>& elves, const Promise& promise, bool purelib,
                    bool has_foreign_programs, Findings& findings) {
    const auto host = std::find_if(elves.begin(), elves.end(), is_host_code);
    if (host == elves.end()) {
        if (promise.linux)
            findings.add("tag.platform_without_elf", {}, "an ELF file, for a platform tag", "none");
        return;
    }
    const bool are_only_helpers = promise.any && are_helpers(elves, has_foreign_programs);
    if (promise.any)
        findings.add(are_only_helpers ? "tag.any_with_helpers" : "tag.any_with_elf", host->name,
                     "no compiled code, for the tag `any`", host->elf.machine);
    if (are_only_helpers) return;
    const auto in_root = std::find_if(elves.begin(), elves.end(), [](const ElfMember& member) {
        return is_host_code(member) && is_under_root(member);
    });
    if (purelib && in_root != elves.end())
        findings.add("tag.purelib_with_elf", in_root->name, "Root-Is-Purelib: false", "true");
}

void check_machine(const ElfMember& member, const Promise& promise, Findings& findings) {
    if (!promise.linux) return;
    // It may be for one of the tags that are not judged.
    if (!promise.not_judged.empty() && !is_known_machine(member.elf.machine)) return;
    const std::vector<std::string> machines(promise.machines.begin(), promise.machines.end());
    const std::string expected = base::join(machines, " or ");
    if (!promise.has_machine(member.elf.machine)) {
        findings.add("elf.machine_mismatch", member.name, expected, member.elf.machine);
        return;
    }
    if (!is_linux_abi(member.elf.os_abi, member.elf.machine)) {
        findings.add("elf.system_mismatch", member.name, "Linux: an ELF file for System V or GNU",
                     os_abi_text(member.elf.os_abi));
    }
    // armv7l tags mean the hard-float ABI (PEP 599 and PEP 600 builds are armhf); EF_ARM_ABI_FLOAT_SOFT
    // contradicts it.
    constexpr std::uint32_t arm_soft_float = 0x200;
    if (member.elf.machine == "armv7l" && promise.machines.count("armv6l") == 0 &&
        (member.elf.flags & arm_soft_float) != 0) {
        findings.add("elf.machine_mismatch", member.name, expected + " with hard float", "soft float");
    }
}

// Compares the level that the file requires with the baseline that platform tags guarantee.
void check_isa(const ElfMember& member, const Promise& promise, Findings& findings) {
    const unsigned level = member.elf.notes.x86_needed;
    if (level < 2 || promise.machines.count("x86_64") == 0) return;
    findings.add("elf.isa_above_baseline", member.name, "x86-64, for the platform tag",
                 "x86-64-v" + std::to_string(level));
}

}  // namespace

void check_tag_truth(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                     const RequiredLibraries& required, const wheel::WheelFilename& filename,
                     const Promise& promise, const Facts& facts, const Policy& policy,
                     bool has_foreign_programs, Findings& findings) {
    for (const std::string& tag : promise.not_judged)
        findings.add("tag.not_judged", {}, {}, tag);
    if (promise.plain_linux && !promise.manylinux && !promise.musllinux)
        findings.add("tag.linux_only", {}, "a manylinux or musllinux tag",
                     base::join(filename.platforms, "."));
    check_presence(elves, promise, facts.root_is_purelib, has_foreign_programs, findings);
    for (const ElfMember& member : elves) {
        if (!is_host_code(member)) continue;
        check_machine(member, promise, findings);
        check_isa(member, promise, findings);
        check_runtime(member, promise, provided, findings);
        check_needed(member, promise, provided, required, findings);
        if (promise.is_judged()) check_search_paths(member, policy, findings);
    }
    check_python_truth(elves, filename, promise, findings);
    check_torch_truth(elves, facts, findings);
    check_gpu_truth(elves, filename, facts, policy, findings);
}

}  // namespace wheelyard::inspect
