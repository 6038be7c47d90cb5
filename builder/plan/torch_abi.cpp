// The verdict on a companion's wheel, by its facts and those of the wanted torch's wheel.
#include "builder/plan/torch_abi.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/inspect/abi/other_library.hpp"
#include "lib/wheel/requirement.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

bool is_companion_of_torch(const Cell& cell) {
    return cell.purpose == Purpose::build && cell.wheel && cell.against.starts_with("torch==");
}

const TorchUse* find_use(const TorchUses& uses, const Cell& cell) {
    const auto found = cell.wheel ? uses.find(cell.wheel->filename) : uses.end();
    return found == uses.end() ? nullptr : &found->second;
}

// Empty: none of its requirements speaks against this torch.
std::string refused_requirement(const TorchUse& use, const wheel::Version& torch) {
    for (const auto& text : use.requirements) {
        const auto requirement = wheel::Requirement::parse(text);
        if (!requirement || requirement->marker) continue;
        if (!requirement->specifiers.contains(torch, wheel::Prereleases::allowed))
            return "requires " + text + ", and torch " + torch.text() + " is wanted";
    }
    return {};
}

// Empty: nothing that is known of it speaks against this torch. `of_torch`: what that torch's own wheel says,
// if the index has it.
std::string misfit_by_bounds(const TorchUse& use, const wheel::Version& torch, const TorchUse& of_torch) {
    const std::string wanted = ", and torch " + torch.text() + " is wanted";
    const auto is_before = [&torch](const std::string& bound) {
        const auto parsed = wheel::Version::parse(bound);
        return parsed && torch.without_local() < *parsed;
    };
    if (!use.at_least.empty() && is_before(use.at_least))
        return "uses names that torch has since " + use.at_least + wanted;
    if (!use.below.empty() && !is_before(use.below))
        return "uses names that torch has no more since " + use.below + wanted;
    const bool differ = (use.cxx11_abi == "true" && of_torch.cxx11_abi == "false") ||
                        (use.cxx11_abi == "false" && of_torch.cxx11_abi == "true");
    if (differ)
        return std::string("is built with _GLIBCXX_USE_CXX11_ABI=") + (use.cxx11_abi == "true" ? "1" : "0") +
               ", and torch " + torch.text() + " is not";
    const auto other = inspect::other_library(use.libraries, of_torch.libraries, torch.text());
    return other ? other->sentence : std::string();
}

const TorchAnswer* find_answer(const TorchAnswers& answers, const Cell& companion, const Cell& torch) {
    if (!companion.wheel || !torch.wheel) return nullptr;
    const auto found = answers.find({companion.wheel->filename, torch.wheel->filename});
    return found == answers.end() || found->second.fits == "unknown" ? nullptr : &found->second;
}

std::vector<const Cell*> torches_of(const Plan& plan, const Cell& companion) {
    std::vector<const Cell*> torches;
    for (const auto& other : plan.cells) {
        const bool is_against = other.package == "torch" && other.purpose == Purpose::build &&
                                other.python == companion.python &&
                                companion.against == "torch==" + other.version;
        const bool is_other = std::find(companion.also_for.begin(), companion.also_for.end(), other.name) !=
                              companion.also_for.end();
        if (is_against || is_other) torches.push_back(&other);
    }
    return torches;
}

std::optional<TorchVerdict> verdict_of(const Cell& cell, const TorchUse& use,
                                       const std::vector<const Cell*>& torches, const TorchUses& uses,
                                       const TorchAnswers& answers) {
    if (torches.empty()) return std::nullopt;
    const TorchAnswer* last = nullptr;
    bool all_have_answers = true;
    for (const Cell* torch : torches) {
        const auto version = wheel::Version::parse(torch->version);
        if (!version) continue;
        std::string misfit = refused_requirement(use, *version);
        const TorchAnswer* answer = find_answer(answers, cell, *torch);
        all_have_answers = all_have_answers && answer != nullptr;
        if (answer != nullptr) last = answer;
        if (misfit.empty() && answer != nullptr && answer->fits == "no") misfit = answer->sentence;
        if (misfit.empty() && answer == nullptr) {
            const TorchUse* of_torch = find_use(uses, *torch);
            misfit = misfit_by_bounds(use, *version, of_torch == nullptr ? TorchUse() : *of_torch);
        }
        if (!misfit.empty()) return TorchVerdict{TorchAbi::rebuild, std::move(misfit)};
    }
    if (use.stable_abi == "true")
        return TorchVerdict{TorchAbi::kept, "uses only torch's stable ABI" +
                                                (use.at_least.empty() ? "" : " since " + use.at_least)};
    if (last != nullptr && all_have_answers && last->reason == "has_all_symbols")
        return TorchVerdict{TorchAbi::kept, "this torch has all " + std::to_string(last->names) +
                                                " names of torch that it uses"};
    if (use.stable_abi == "false")
        return TorchVerdict{TorchAbi::unproven,
                            "nothing that is known of it speaks against this torch, and it uses more than "
                            "torch's stable ABI"};
    return std::nullopt;
}

}  // namespace

std::set<std::string> projects_of_torch(const Plan& plan) {
    std::set<std::string> projects;
    for (const auto& cell : plan.cells) {
        if (is_companion_of_torch(cell)) projects.insert({cell.package, "torch"});
    }
    return projects;
}

std::vector<TorchPair> torch_pairs(const Plan& plan) {
    std::vector<TorchPair> pairs;
    for (const auto& cell : plan.cells) {
        if (!is_companion_of_torch(cell)) continue;
        for (const Cell* torch : torches_of(plan, cell)) {
            if (torch->wheel) pairs.emplace_back(cell.wheel->filename, torch->wheel->filename);
        }
    }
    return pairs;
}

void judge_torch_abi(Plan& plan, const TorchUses& uses, const TorchAnswers& answers) {
    for (auto& cell : plan.cells) {
        const TorchUse* use = find_use(uses, cell);
        if (use == nullptr || !is_companion_of_torch(cell)) continue;
        cell.torch_abi = verdict_of(cell, *use, torches_of(plan, cell), uses, answers);
    }
}

}  // namespace wheelyard::builder
