// The checks of judge(), and what they share. Only for fit*.cpp.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/query/fit.hpp"
#include "indexer/avail_wheels/query/needs.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::avail_wheels::checks {

struct Question {
    const Candidate& candidate;
    const Needs& needs;
    const Node& node;
    const Site& site;
    const Installing& how;
};

// fit_system.cpp: what pip asks, and the processor.
[[nodiscard]] Fit check_machine(const Question& q);
[[nodiscard]] Fit check_python(const Question& q);
[[nodiscard]] Fit check_glibc(const Question& q);
[[nodiscard]] Fit check_stack(const Question& q);
[[nodiscard]] Fit check_platform(const Question& q);
[[nodiscard]] Fit check_hash(const Question& q);
[[nodiscard]] Fit check_processor(const Question& q);
// fit_accelerator.cpp: variants, GPUs and their drivers.
[[nodiscard]] Fit check_variant(const Question& q);
[[nodiscard]] Fit check_gpu(const Question& q);
// fit_libraries.cpp: what the loader finds, and the modules that bring it.
[[nodiscard]] Fit check_modules(const Question& q);
[[nodiscard]] Fit check_libraries(const Question& q);
[[nodiscard]] Fit check_versions(const Question& q);
// fit_python_code.cpp: modules and functions that this Python does not have.
[[nodiscard]] Fit check_standard_library(const Question& q);
[[nodiscard]] Fit check_functions(const Question& q);
// fit_requirements.cpp: what it requires, and the installed torch.
[[nodiscard]] Fit check_requirements(const Question& q);
[[nodiscard]] Fit check_torch(const Question& q);

// What a "yes" does not say: a part of the wheel that lacks something here, or an extra that is none.
[[nodiscard]] Fit part_without_library(const Question& q);
[[nodiscard]] Fit part_without_function(const Question& q);
[[nodiscard]] Fit extras_without_requirements(const Question& q);

inline Fit no(std::string code, std::string why, std::string advice = {}) {
    return {Runs::no, std::move(code), std::move(why), std::move(advice)};
}
inline Fit unknown(std::string code, std::string why) {
    return {Runs::unknown, std::move(code), std::move(why), {}};
}
// The first "no"; without one the first "unknown", then the first "yes" that has something to tell.
template <typename Things, typename Check>
[[nodiscard]] Fit first_fault(const Things& things, const Check& check) {
    Fit first;
    for (const auto& thing : things) {
        Fit fit = check(thing);
        if (fit.runs == Runs::no) return fit;
        if (fit.runs == Runs::unknown ? first.runs == Runs::yes : first.code.empty()) first = std::move(fit);
    }
    return first;
}

// Says whether all that it requires is known, and is nothing but for extras.
[[nodiscard]] bool requires_nothing(const Needs& needs);
[[nodiscard]] std::string listed(const std::vector<std::string>& texts);  // "a, b", at most six

enum class TagPart { python_and_abi, platform, all };
// pip's rule: at least one of the wheel's tags is supported by this Python. Of the platforms alone: by some
// Python here.
[[nodiscard]] bool pip_takes(const Candidate& candidate, const Node& node, const Python& python,
                             TagPart part);
// The Python of the node that takes its tags and its Requires-Python; nullptr: none.
[[nodiscard]] const Python* taking_python(const Question& q);
// The wheels of the source that an installer may take for a project; nullptr: they are not known.
[[nodiscard]] const std::vector<Candidate>* wheels_for(const Installing& how, const std::string& project);
// Says whether an installer asks for this project, which the wheel requires. Without a Python it may.
[[nodiscard]] bool asks_for(const Question& q, const std::string& project);
// Says whether every Python is asked about, and none of the node's takes it.
[[nodiscard]] bool is_for_another_python(const Question& q);
// The facts have one version for the files of all machines: interpret_core has a library for aarch64 that
// needs glibc 2.34, and one for x86-64 that needs 2.4.
[[nodiscard]] bool is_for_several(const Question& q);
// Says whether the node has this property of a variant; nullopt: that is not known. The words are those of
// the providers that installers have built in.
[[nodiscard]] std::optional<bool> has_property(const Node& node, const wheel::VariantProperty& property);

}  // namespace wheelyard::avail_wheels::checks
