// The kinds of user_files.cpp, each rendered from the same words.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "builder/site/site.hpp"

namespace wheelyard::builder::user_files {

struct Words {
    const Site& site;
    const UserSettings& users;
    const PythonChoice& python;
    const Accelerator& accelerator;
    std::filesystem::path place;  // of the files
    std::string name;             // "pytorch"
    std::string version;          // "2.4.0"
};

// user_files_modules.cpp
[[nodiscard]] std::string render_lua(const Words& words);
[[nodiscard]] std::string render_tcl(const Words& words);
// user_files_environments.cpp
[[nodiscard]] std::string render_install(const Words& words);
[[nodiscard]] std::string render_extend_venv(const Words& words);
[[nodiscard]] std::string render_activate(const Words& words);
[[nodiscard]] std::string render_deactivate(const Words& words);
[[nodiscard]] std::string render_pack(const Words& words);
[[nodiscard]] std::string render_unpack(const Words& words);
// user_files_jobs.cpp
[[nodiscard]] std::string render_job_variables(const Words& words);
[[nodiscard]] std::string render_run_rank(const Words& words);
[[nodiscard]] std::string render_job(const Words& words);
[[nodiscard]] std::string render_all_reduce(const Words& words);
// user_files_libtorch.cpp
[[nodiscard]] std::string render_cmake_lists(const Words& words);
[[nodiscard]] std::string render_example(const Words& words);
[[nodiscard]] std::string render_build(const Words& words);

// `text` with {{module}}, {{name}}, {{version}}, {{site}}, {{python}}, {{wheels}} and, as words of bash,
// {{root}} and {{place}}.
[[nodiscard]] std::string fill(std::string_view text, const Words& words);
// Every variable of [users] environment, and what an index is found by.
[[nodiscard]] Environment lasting_environment(const Words& words);
// All modules that the wheels need, in the order of loading.
[[nodiscard]] std::vector<std::string> modules_of(const Words& words);
// Lines of bash that bring the environment: by its module where the site has modules, else by PATH.
[[nodiscard]] std::string render_enter(const Words& words);

}  // namespace wheelyard::builder::user_files
