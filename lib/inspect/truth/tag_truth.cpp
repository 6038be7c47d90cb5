#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::inspect {

namespace {

bool is_host_code(const ElfMember& member) {
    return !member.elf.is_device;
}

// Says whether installers put the member among the modules, and not by way of platlib.
bool is_under_root(const ElfMember& member) {
    const InstalledPath place = installed_path(member.name);
    return place.folder == InstallFolder::site && place.scheme != "platlib";
}

// One helper for each platform, a program as selenium has or a library as interpret has: the modules start or
// open the one that fits, or do without. Extension modules are none.
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
        if (promise.is_judged()) check_search_paths(member, elves, policy, findings);
    }
    check_python_truth(elves, filename, promise, findings);
    check_torch_truth(elves, facts, findings);
    check_gpu_truth(elves, filename, facts, policy, findings);
}

bool Promise::has_machine(std::string_view machine) const {
    const auto promised = [this](std::string_view name) { return machines.count(std::string(name)) != 0; };
    return promised(machine) || (machine == "armv7l" && (promised("armv6l") || promised("armv8l")));
}

Promise read_promise(const wheel::WheelFilename& filename) {
    Promise promise;
    for (const std::string& text : filename.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) {
            promise.any = true;
            continue;
        }
        if (platform.kind == wheel::PlatformKind::other || !is_known_machine(platform.machine)) {
            promise.not_judged.push_back(text);
            continue;
        }
        promise.linux = true;
        promise.machines.insert(platform.machine);
        promise.musllinux = promise.musllinux || platform.kind == wheel::PlatformKind::musllinux;
        promise.plain_linux = promise.plain_linux || platform.kind == wheel::PlatformKind::linux;
        if (platform.kind != wheel::PlatformKind::manylinux) continue;
        promise.manylinux = true;
        const std::pair glibc{platform.libc_major, platform.libc_minor};
        if (!promise.lowest_manylinux || glibc < *promise.lowest_manylinux) {
            promise.lowest_manylinux = glibc;
            promise.lowest_manylinux_tag = text;
        }
    }
    return promise;
}

namespace {

bool is_image(const ElfMember& member) {
    return member.elf.kind == ElfKind::executable || member.elf.kind == ElfKind::shared;
}

// "libsix.so", "libsix.so.1.2".
bool has_library_name(const ElfMember& member) {
    const std::string_view file = base::base_name(member.name);
    return file.ends_with(".so") || file.find(".so.") != std::string_view::npos;
}

// Fortran's runtime, which no loader but the dynamic linker opens: a build copies it beside libraries that
// need it.
bool is_fortran_runtime(const ElfMember& member) {
    const std::string& soname = member.elf.soname;
    return soname.starts_with("libgfortran.so.") || soname.starts_with("libquadmath.so.");
}

class Sorter {
  public:
    Sorter(const std::vector<ElfMember>& elves, const Promise& promise) : promise_(promise) {
        for (const ElfMember& member : elves) {
            modes_are_set_ = modes_are_set_ || member.may_run;
            if (!is_image(member) || !is_promised(member)) continue;
            has_code_ = has_code_ || !is_fortran_runtime(member);
            for (const std::string& library : member.elf.needed)
                needed_.emplace(base::base_name(library));
        }
    }

    // Why the file counts as data; empty: it is code.
    [[nodiscard]] std::string reason(const ElfMember& member) const {
        std::string suspicion = suspicion_of(member);
        return suspicion.empty() || seems_loaded(member) ? std::string() : suspicion;
    }

  private:
    [[nodiscard]] bool is_promised(const ElfMember& member) const {
        return promise_.has_machine(member.elf.machine) &&
               is_linux_abi(member.elf.os_abi, member.elf.machine);
    }

    [[nodiscard]] std::string suspicion_of(const ElfMember& member) const {
        if (!has_code_) return {};
        if (!promise_.has_machine(member.elf.machine)) return member.elf.machine;
        if (!is_promised(member)) return os_abi_text(member.elf.os_abi);
        if (is_fortran_runtime(member)) return "a runtime that no other file needs";
        if (!modes_are_set_ || member.may_run) return {};
        if (is_program(member)) return "a program without permission to run";
        return has_library_name(member) ? "" : "a library without the name of one";
    }

    [[nodiscard]] bool seems_loaded(const ElfMember& member) const {
        const ElfFacts& elf = member.elf;
        const bool is_module = elf.symbols.python.count != 0 || module_suffix(member.name).has_value();
        const bool is_needed =
            needed_.count(base::base_name(member.name)) != 0 || needed_.count(elf.soname) != 0;
        // A flaw may hide what the file imports.
        return is_module || is_needed || (is_program(member) && member.may_run) || !elf.flaw.empty();
    }

    const Promise& promise_;
    bool has_code_ = false;  // for what the tags promise, beside runtimes
    bool modes_are_set_ = false;
    std::set<std::string, std::less<>> needed_;  // by this code
};

}  // namespace

bool is_program(const ElfMember& member) {
    return member.elf.kind == ElfKind::executable || member.elf.is_pie || !member.elf.interpreter.empty();
}

std::vector<ElfMember> take_data(std::vector<ElfMember>& elves, const Promise& promise, Findings& findings) {
    const Sorter sorter(elves, promise);
    std::vector<ElfMember> code;
    std::vector<ElfMember> data;
    for (ElfMember& member : elves) {
        std::string reason;
        if (is_image(member) && !member.elf.is_device) reason = sorter.reason(member);
        const bool is_code = member.elf.is_device || (is_image(member) && reason.empty());
        if (!reason.empty())
            findings.add("elf.counts_as_data", member.name,
                         "code for " + base::join({promise.machines.begin(), promise.machines.end()}, " or "),
                         reason);
        (is_code ? code : data).push_back(std::move(member));
    }
    elves = std::move(code);
    return data;
}

}  // namespace wheelyard::inspect
