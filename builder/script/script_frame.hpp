// What every job's script begins with, whatever it is for: its claim, its phases, its exit record, its pip.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/script/script.hpp"

namespace wheelyard::builder {

// {{name}} in a part of a script stands for a value.
using Fields = std::vector<std::pair<std::string, std::string>>;
// In one pass, so that a value that looks like a field stays what it is. Every field of the part must be
// there.
[[nodiscard]] std::string fill(std::string_view part, const Fields& fields);

// title, attempt, number, task, folder, build, python, index, durable.
[[nodiscard]] Fields frame_fields(const ScriptInput& input);

// The recipe's variables, where something of its own is built: neither for an upstream's wheel nor for a
// test.
[[nodiscard]] Environment own_environment(const Recipe& recipe, Purpose purpose);

// What the recipe's tests install beside the wheel: each word quoted, after a blank.
[[nodiscard]] std::string render_test_requires(const Recipe& recipe);

// Up to the functions `begin` (a phase) and `pip_install`.
[[nodiscard]] std::string render_frame(const ScriptInput& input, const Fields& fields);

// Of a script on the login node that fills $folder/wheelhouse: up to the function `pip_wheel`, with a
// Python that has the packages so far in the environment $folder/asking.
[[nodiscard]] std::string render_wheelhouse_frame(const ScriptInput& input, const Fields& fields);

}  // namespace wheelyard::builder
