// Resolves closures by a step on the login node, with the target's interpreter, and keeps them:
//
//     STATE/closures/PACKAGE-cp312-KEY.json   the graph (closure.hpp); KEY is of the requirement, the mode, the interpreter
//                                             and the version bounds, so another of these is resolved again
//     STATE/closures/pip-3.12/                a pip alone, by which these are resolved and their jobs install; made where it lacks
//     STATE/closures/….failed                 why it could not be resolved; tried again once this is closure_retry_s old
//     WORK/closures/…/                        the step: its log, and what it downloads meanwhile
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/closure/closure.hpp"
#include "builder/plan/plan.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t closure_retry_s = 1800;

struct ClosurePorts {
    const Site& site;
    const Recipes& recipes;
    const std::map<std::string, base::Result<Python>>& pythons;
    EnvironmentMap environment;  // the agent's own
    std::string pip_conf;        // as pip is configured; may hold passwords
    base::Clock& clock;
};

// One want for one version and one Python.
struct ClosureAsked {
    std::string package;
    std::string version;  // "3.0.2", "latest", ">=2,<3"
    std::string python;   // as in the site file
    ClosureMode mode = ClosureMode::compiled;
};

// The graph. Where none is kept, `resolves` starts the step or looks how it is. Errors: "closure.waits" of
// kind in_progress (it runs, or is to be started), "closure.failed" (and when it is tried again), those of
// parse_closure and files.
[[nodiscard]] base::Result<Closure> find_closure(const ClosureAsked& asked, const ClosurePorts& ports,
                                                 bool resolves);

// Forgets the graph and why there is none.
[[nodiscard]] base::Status forget_closure(const ClosureAsked& asked, const ClosurePorts& ports);

// `wants`, each with a closure replaced by one for each of its releases; until it is known, the want waits or
// says why not.
[[nodiscard]] std::vector<Want> with_closures(const std::vector<Want>& wants, const ClosurePorts& ports,
                                              bool resolves);

// What `wheelyard-builder closure` takes and prints. Pure.

// "pandas", "pandas==3.1.1", "pandas>=3,<4"; `python`: of the site, or empty where it has one. Errors:
// "closure.requirement", "closure.python".
[[nodiscard]] base::Result<ClosureAsked> parse_asked(const std::string& requirement,
                                                     const std::string& python, ClosureMode mode,
                                                     const Site& site);

// A row for each release, with the state of its cell in `plan`.
[[nodiscard]] std::string render_closure_table(const Closure& closure, const Plan& plan,
                                               const std::string& python, std::size_t columns = 0);

// Every release that asks for this project, up to what is wanted; empty: the closure does not have it.
[[nodiscard]] std::string render_closure_reasons(const Closure& closure, const std::string& project);

}  // namespace wheelyard::builder
