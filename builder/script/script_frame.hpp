// The common beginning of every job script: claim, phases, exit record, pip. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// {{name}} in a part of a script is replaced by a value.
using Fields = std::vector<std::pair<std::string, std::string>>;
// Replaces in one pass, so that a value that looks like a field is not replaced again. Precondition: `fields`
// has every field of the part.
[[nodiscard]] std::string fill(std::string_view part, const Fields& fields);

// Bounds of what pip installs for a build and its tests: the rows of the site's version pairs that apply. Pure.
[[nodiscard]] std::vector<std::string> constraints_for(const Site& site, const Attempt& attempt);

// Returns title, attempt, number, cell, folder, build, python, index, durable.
[[nodiscard]] Fields frame_fields(const ScriptInput& input);

// The recipe's build variables; empty for an upstream wheel and for a test, which build nothing.
[[nodiscard]] Environment own_environment(const Recipe& recipe, Purpose purpose);

// The recipe's test.requires as arguments of pip: each quoted, preceded by a space.
[[nodiscard]] std::string render_test_requires(const Recipe& recipe);

// Defines $pip, the pip alone in a folder of the closures for this Python of site.toml, and the function `new_environment`,
// whose environments see it. Their resolution makes that pip; jobs use it.
[[nodiscard]] std::string render_new_environment(const Site& site, const std::string& python);

// The command that makes an environment in the folder after it.
[[nodiscard]] std::string environment_command(const ScriptInput& input);

// The script's text up to and including the function `begin`: the claim and the exit record.
[[nodiscard]] std::string render_opening(const Fields& fields);

// The script's text up to and including the functions `begin` (starts a phase) and `pip_install`.
[[nodiscard]] std::string render_frame(const ScriptInput& input, const Fields& fields);

// Defines `pip_install`: from the index, or from the wheelhouse of an offline job.
[[nodiscard]] std::string render_pip(const ScriptInput& input, const Fields& fields);

// The beginning of a login-node script: folders, modules, the variables of builds, their home.
[[nodiscard]] std::string render_login_opening(const ScriptInput& input);

// The text of a login-node script that fills $folder/wheelhouse, up to and including the function
// `pip_wheel`. It creates the environment $folder/asking, in which build requirements are queried.
[[nodiscard]] std::string render_wheelhouse_frame(const ScriptInput& input, const Fields& fields);

}  // namespace wheelyard::builder
