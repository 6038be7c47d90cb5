// What `wheelyard-builder closure` takes and prints. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "builder/closure/resolve.hpp"
#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

// "pandas", "pandas==3.1.1", "pandas>=3,<4"; `python`: of the site, or empty where it has one. Errors: "closure.requirement",
// "closure.python".
[[nodiscard]] base::Result<ClosureAsked> parse_asked(const std::string& requirement,
                                                     const std::string& python, ClosureMode mode,
                                                     const Site& site);

// A row for each release, with the state of its cell in `plan`.
[[nodiscard]] std::string render_closure_table(const Closure& closure, const Plan& plan,
                                               const std::string& python, std::size_t columns = 0);

// Every release that asks for this project, up to what is wanted; empty: the closure does not have it.
[[nodiscard]] std::string render_closure_reasons(const Closure& closure, const std::string& project);

}  // namespace wheelyard::builder
