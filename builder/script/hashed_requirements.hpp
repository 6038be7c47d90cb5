// Requirements files with hashes. pip then demands a hash for everything in the same command
// (https://pip.pypa.io/en/stable/topics/secure-installs/), so such a file is installed by its own command,
// before the rest. For a job without network access, the login node puts the wheels whose hashes match into
// $folder/checked and writes the hashes of these wheels, including those built there from an sdist, to
// $folder/checked.txt.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/script/script.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t max_requirements_files = 64;  // included by one file

// Whether the text itself makes pip check hashes (included files do not count). Pure.
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

}  // namespace wheelyard::builder
