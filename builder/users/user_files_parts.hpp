// The renderers of the single files; all of them take the same input.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "builder/site/site.hpp"

namespace wheelyard::builder::user_files {

struct Input {
    const Site& site;
    const UserSettings& users;
    const PythonChoice& python;
    const Accelerator& accelerator;
    std::filesystem::path place;  // the folder of the files
    std::string name;             // "pytorch"
    std::string version;          // "2.4.0"
};

// user_files_modules.cpp
[[nodiscard]] std::string render_lua(const Input& input);
[[nodiscard]] std::string render_tcl(const Input& input);
// user_files_environments.cpp
[[nodiscard]] std::string render_install(const Input& input);
[[nodiscard]] std::string render_extend_venv(const Input& input);
[[nodiscard]] std::string render_activate(const Input& input);
[[nodiscard]] std::string render_deactivate(const Input& input);
[[nodiscard]] std::string render_pack(const Input& input);
[[nodiscard]] std::string render_unpack(const Input& input);
// user_files_jobs.cpp
[[nodiscard]] std::string render_job_variables(const Input& input);
[[nodiscard]] std::string render_run_rank(const Input& input);
[[nodiscard]] std::string render_job(const Input& input);
[[nodiscard]] std::string render_all_reduce(const Input& input);
// user_files_environments.cpp
[[nodiscard]] std::string render_cmake_lists(const Input& input);
[[nodiscard]] std::string render_example(const Input& input);
[[nodiscard]] std::string render_build(const Input& input);

// Replaces {{module}}, {{name}}, {{version}}, {{site}}, {{python}}, {{wheels}}, {{torch_device}},
// {{torch_constant}}, {{torch_backend}}, and, quoted for bash, {{root}} and {{place}}.
[[nodiscard]] std::string fill(std::string_view text, const Input& input);
// The variables of [users] environment, and those that name the index for pip.
[[nodiscard]] Environment lasting_environment(const Input& input);
// Bash that enters the environment: loads its module where the site has modules, else changes PATH.
[[nodiscard]] std::string render_enter(const Input& input);

}  // namespace wheelyard::builder::user_files
