// Says whether a companion's wheel of the index can stay with the torch that the site wants, by what its
// bytes prove: for `plan --explain`. Pure.
//
//     kept: uses only torch's stable ABI since 2.9
//     unproven: nothing that is known of it speaks against this torch, and it uses more than torch's stable ABI
//     rebuild: torch 2.6.0 lacks `at::_ops::zeros::call`, one of the 165 names of torch that it needs
//
// Where the index has that torch, too, the registry compares the names of both; otherwise the bounds of the
// companion's facts decide.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

// What a wheel's facts state of torch (docs/reference/facts.md); empty: unknown, or torch is not used.
struct TorchUse {
    std::vector<std::string> requirements;  // "torch==2.6.0"
    std::string stable_abi, cxx11_abi, at_least, below;
    std::set<std::string> libraries = {};  // DT_NEEDED from outside of the wheel
};
using TorchUses = std::map<std::string, TorchUse>;  // by file name

// What the registry says of a companion and a torch (docs/reference/api.md, "With a torch of the index").
struct TorchAnswer {
    std::string fits;  // "yes", "no", "unknown"
    std::string reason, sentence;
    std::int64_t names = 0;
};
using TorchPair = std::pair<std::string, std::string>;  // file names of a companion and of a torch
using TorchAnswers = std::map<TorchPair, TorchAnswer>;

// The companions and torches to ask the registry about: those that the index has.
[[nodiscard]] std::vector<TorchPair> torch_pairs(const Plan& plan);
// The projects whose facts judge_torch_abi() asks for: torch, and each companion of it whose wheel the index
// has.
[[nodiscard]] std::set<std::string> projects_of_torch(const Plan& plan);
// Sets `torch_abi` of these companions. A companion of which nothing is known gets none.
void judge_torch_abi(Plan& plan, const TorchUses& uses, const TorchAnswers& answers = {});

}  // namespace wheelyard::builder
