// The steps of a build script that a recipe asks for: patches, commands before, configuration, the front end,
// the wheel's metadata, the tests. Pure.
#pragma once

#include <string>

#include "builder/script/script.hpp"
#include "builder/site/script_setup.hpp"

namespace wheelyard::builder {

// Patches and `before` once for a tree, then `configure`.
[[nodiscard]] std::string render_tree_steps(const ScriptInput& input, const Placeholders& values);

// The command that takes an upstream's wheel as it is, up to where it goes to: from the recipe's index, else
// from where the agent's pip looks.
[[nodiscard]] std::string render_upstream_download(const Recipe& recipe);

// `governor` stands before the command; empty without one.
[[nodiscard]] std::string render_build_step(const ScriptInput& input, const std::string& governor);

// Makes the wheel say its label and what it was built against; nothing where it need not.
[[nodiscard]] std::string render_metadata_step(const ScriptInput& input);

[[nodiscard]] std::string render_smoke_step(const ScriptInput& input, const Placeholders& values);

}  // namespace wheelyard::builder
