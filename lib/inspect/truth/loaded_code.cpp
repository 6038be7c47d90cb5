#include "lib/inspect/truth/loaded_code.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/module_suffix.hpp"

namespace wheelyard::inspect {
namespace {

bool is_image(const ElfMember& member) {
    return member.elf.kind == ElfKind::executable || member.elf.kind == ElfKind::shared;
}

// "libsix.so", "libsix.so.1.2".
bool has_library_name(const ElfMember& member) {
    const std::string_view file = base::base_name(member.name);
    return file.ends_with(".so") || file.find(".so.") != std::string_view::npos;
}

// Fortran's runtime, which no loader but the dynamic linker opens: a build copies it beside libraries that need it.
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
