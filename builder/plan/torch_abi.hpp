// Whether a companion's wheel of the index can stay with the torch that the site wants, by what its bytes prove: for
// `plan --explain`. Pure.
//
//     kept: uses only torch's stable ABI since 2.9
//     rebuild: uses names that torch has since 2.9, and torch 2.7.0 is wanted
#pragma once

#include <map>
#include <set>
#include <string>
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

// The projects whose facts judge_torch_abi() asks for: torch, and each companion of it whose wheel the index has.
[[nodiscard]] std::set<std::string> projects_of_torch(const Plan& plan);
// Sets `torch_abi` of these companions. One of which nothing is known has none.
void judge_torch_abi(Plan& plan, const TorchUses& uses);

}  // namespace wheelyard::builder
