// Compares the torch that METADATA requires with the torch that the imported symbols prove.
#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/truth/gather_facts.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {
namespace {

constexpr unsigned highest_minor = 40,
                   highest_patch = 9;  // of the torch 2 releases to try: far beyond existing ones

// Says whether any torch release from `imports.at_least` to below `imports.below` satisfies `text`. Ignores
// local parts of pins. Accepts specifiers that mention a pre-release or cannot be parsed.
bool can_be_met(const std::string& text, const TorchImports& imports) {
    const auto requirement = wheel::Requirement::parse(text);
    if (!requirement || requirement->specifiers.empty() || is_of_an_extra(*requirement)) return true;
    std::string specifiers;
    for (const auto& specifier : requirement->specifiers.specifiers()) {
        if (specifier.mentions_prerelease()) return true;
        const std::string one = specifier.text();
        if (!specifiers.empty()) specifiers += ",";
        specifiers += one.substr(0, one.find('+'));
    }
    const auto set = wheel::SpecifierSet::parse(specifiers);
    if (!set) return true;
    const unsigned first = imports.at_least.known() ? imports.at_least.minor : 0;
    const unsigned last = imports.below.known() ? imports.below.minor : highest_minor;
    for (unsigned minor = first; minor < last; ++minor) {
        for (unsigned patch = 0; patch <= highest_patch; ++patch) {
            const auto version =
                wheel::Version::parse("2." + std::to_string(minor) + "." + std::to_string(patch));
            if (version && set->contains(*version)) return true;
        }
    }
    // Releases before torch 2 only lack what later ones added.
    const auto before = wheel::Version::parse("1.13.1");
    return !imports.at_least.known() && before && set->contains(*before);
}

}  // namespace

void check_torch_truth(const std::vector<ElfMember>& elves, const Facts& facts, Findings& findings) {
    const auto is_bounded = [](const TorchImports& imports) {
        return imports.at_least.known() || imports.below.known();
    };
    for (const std::string& text : facts.torch_requires) {
        std::set<std::string> suitable;
        for (const ElfMember& member : elves) {
            const TorchImports& imports = member.elf.symbols.torch;
            if (!is_bounded(imports) || can_be_met(text, imports))
                suitable.insert(name_for_any_torch(member.name));
        }
        for (const ElfMember& member : elves) {
            if (suitable.contains(name_for_any_torch(member.name))) continue;
            const TorchImports& imports = member.elf.symbols.torch;
            std::string found;
            if (imports.at_least.known())
                found = imports.at_least_symbol + ", in torch >= " + imports.at_least.text();
            if (imports.below.known()) {
                if (!found.empty()) found += ", ";
                found += imports.below_symbol + ", in torch < " + imports.below.text();
            }
            findings.add("torch.requires_another", member.name, text, found);
        }
    }
}

}  // namespace wheelyard::inspect
