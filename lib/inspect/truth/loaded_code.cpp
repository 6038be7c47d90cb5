#include "lib/inspect/truth/loaded_code.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/text.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/module_suffix.hpp"

namespace wheelyard::inspect {
namespace {

bool is_image(const ElfMember& member) {
    return member.elf.kind == ElfKind::executable || member.elf.kind == ElfKind::shared;
}

// The names of the libraries that the code for promised machines needs.
std::set<std::string_view> needed_by_promised(const std::vector<ElfMember>& elves, const Promise& promise) {
    std::set<std::string_view> names;
    for (const ElfMember& member : elves) {
        if (!is_image(member) || !promise.has_machine(member.elf.machine)) continue;
        for (const std::string& library : member.elf.needed)
            names.insert(base_name(library));
    }
    return names;
}

bool seems_loaded(const ElfMember& member, const std::set<std::string_view>& needed) {
    const ElfFacts& elf = member.elf;
    const bool is_module = elf.symbols.python.count != 0 || module_suffix(member.name).has_value();
    const bool is_needed = needed.count(base_name(member.name)) != 0 || needed.count(elf.soname) != 0;
    const bool is_program = elf.kind == ElfKind::executable || !elf.interpreter.empty();
    // A flaw may hide what the file imports.
    return is_module || is_needed || (is_program && member.may_run) || !elf.flaw.empty();
}

}  // namespace

std::vector<ElfMember> take_data(std::vector<ElfMember>& elves, const Promise& promise, Findings& findings) {
    const auto has_promised_machine = [&](const ElfMember& member) {
        return is_image(member) && promise.has_machine(member.elf.machine);
    };
    const bool has_code = std::any_of(elves.begin(), elves.end(), has_promised_machine);
    const std::set<std::string_view> needed = needed_by_promised(elves, promise);
    const auto is_code = [&](const ElfMember& member) {
        if (member.elf.is_device || has_promised_machine(member)) return true;
        if (!is_image(member)) return false;
        return !has_code || seems_loaded(member, needed);
    };
    const auto data_at = std::stable_partition(elves.begin(), elves.end(), is_code);
    std::vector<ElfMember> data(std::make_move_iterator(data_at), std::make_move_iterator(elves.end()));
    elves.erase(data_at, elves.end());
    const std::string expected = base::join({promise.machines.begin(), promise.machines.end()}, " or ");
    for (const ElfMember& member : data) {
        if (is_image(member))
            findings.add("elf.other_machine_data", member.name, expected, member.elf.machine);
    }
    return data;
}

}  // namespace wheelyard::inspect
