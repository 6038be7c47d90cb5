// The common beginning of every job script: claim, phases, exit record, pip. Pure.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/script/script.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// {{name}} in a part of a script is replaced by a value.
using Fields = std::vector<std::pair<std::string, std::string>>;
// Replaces in one pass, so that a value that looks like a field is not replaced again. Precondition: `fields`
// has every field of the part.
[[nodiscard]] std::string fill(std::string_view part, const Fields& fields);

// Bounds of what pip installs for a build and its tests: the rows of the site's version pairs that apply.
// Pure.
[[nodiscard]] std::vector<std::string> constraints_for(const Site& site, const Attempt& attempt);

// Returns title, attempt, number, cell, folder, build, python, index, durable.
[[nodiscard]] Fields frame_fields(const ScriptInput& input);

// The recipe's build variables; empty for an upstream wheel and for a test, which build nothing.
[[nodiscard]] Environment own_environment(const Recipe& recipe, Purpose purpose);

// Says whether this job runs tests of the source's own: of those that make a wheel, a build does.
[[nodiscard]] bool runs_own_tests(const ScriptInput& input);

// What the job's tests require, as arguments of pip: each quoted, preceded by a space.
[[nodiscard]] std::string render_test_requires(const ScriptInput& input);

// Defines $pip, the pip alone in a folder of the closures for this Python of site.toml, and the function
// `new_environment`, whose environments see it. Their resolution makes that pip; jobs use it.
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

// Runs after modules are loaded and variables are exported, which see the user's home. A variable that the
// site or the recipe names keeps its value. Empty for a job that builds nothing.
[[nodiscard]] std::string render_build_home(const ScriptInput& input);

inline constexpr std::size_t max_requirements_files = 64;  // included by one file

// Says whether the text itself makes pip check hashes (included files do not count). Pure.
[[nodiscard]] bool names_hashes(std::string_view requirements);
// The files that it includes (-r, -c), as written. Pure.
[[nodiscard]] std::vector<std::string> included_files(std::string_view requirements);

// The requirements files of the recipe that name hashes or include a file that does. `project` is the folder
// that they are relative to. Errors: "source.requirements" (a file does not exist, or too many are included),
// and those of base::read_file.
[[nodiscard]] base::Result<std::vector<std::string>> find_hashed_files(const Recipe& recipe,
                                                                       const std::filesystem::path& project);

// Runs in the job, in the project's folder: installs input.hashed_files. Empty where there are none.
[[nodiscard]] std::string render_hashed_install(const ScriptInput& input);
// Runs on the login node: fills $folder/checked and writes $folder/checked.txt.
[[nodiscard]] std::string render_hashed_wheels(const ScriptInput& input);
// Installs the wheels of $folder/checked by their hashes.
[[nodiscard]] std::string render_checked_install();

// Says whether the project's back end is queried for further build requirements (PEP 517). With `setup.py` it
// is not.
[[nodiscard]] bool asks_back_end(const ScriptInput& input);

// What installs the requirements of a build: as in PEP 517's isolation the newest that is allowed, whatever
// the venv came with (Python 3.11 of Debian 12 brings setuptools 66).
[[nodiscard]] std::string requirements_command(const ScriptInput& input);

// `command` with the build requirements of the recipe and of pyproject.toml, except files with hashes. Empty
// where there are none, because pip rejects an empty install.
[[nodiscard]] std::string render_install(const ScriptInput& input, std::string_view command);

// Writes the back end's further build requirements to $folder/requires.txt. Runs in the project's folder.
// Of a closure's cell: installs its build environment by hash, with this command. Empty: it has none.
[[nodiscard]] std::string render_lock(const ScriptInput& input, std::string_view command);
[[nodiscard]] std::string render_asking(const ScriptInput& input);

// Writes the requirements of the wheel to $folder/needs.txt, except the package that it is built against.
// Runs in the project's folder. Requirements that are unknown before the build are left out, with a note in
// the log.
[[nodiscard]] std::string render_needs(const ScriptInput& input);

// The site's compiler cache (work.compiler_cache_gib of site.toml): ccache in the work folder, shared by all
// builds of the site. Runs in the project's folder, after its requirements are installed and before anything
// of it is compiled. Empty for a site without a cache, and for a reproduction.
//
// An object is found again whichever attempt's folder its source is in: paths below the build's folder are
// relative in the keys (CCACHE_BASEDIR), and the current folder is no part of them (CCACHE_NOHASHDIR).
// https://ccache.dev/manual/latest.html#_configuration_options
[[nodiscard]] std::string render_compiler_cache(const ScriptInput& input);

// Patches and `before` (both once per build tree), then `configure`.
[[nodiscard]] std::string render_tree_steps(const ScriptInput& input, const Placeholders& values);
// `before` of a wheel that is taken from an upstream: it has no tree, and runs in the attempt's folder.
[[nodiscard]] std::string render_upstream_steps(const ScriptInput& input, const Placeholders& values);

// Downloads an upstream wheel into the folder `to`: from the job's wheelhouse, else from the recipe's index,
// else from the index that the agent's pip is configured to use; of a closure's cell by its hash.
[[nodiscard]] std::string render_upstream_download(const ScriptInput& input, bool from_wheelhouse,
                                                   const std::string& to);

// `governor` is the command prefix that runs the build under the governor; empty: without it.
[[nodiscard]] std::string render_build_step(const ScriptInput& input, const std::string& governor);

// Sets the wheel's full version and pins the package that it was built against; empty where neither is
// needed.
[[nodiscard]] std::string render_metadata_step(const ScriptInput& input);

[[nodiscard]] std::string render_smoke_step(const ScriptInput& input, const Placeholders& values);

}  // namespace wheelyard::builder
