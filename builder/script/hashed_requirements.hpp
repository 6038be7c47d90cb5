// Requirements files that name hashes. pip then wants a hash of everything that it is asked for at once
// (https://pip.pypa.io/en/stable/topics/secure-installs/), so such a file is installed by itself, before the
// rest. For a job that reaches no index it is taken on the login node: what its hashes let pass lies as
// wheels in $folder/checked, and $folder/checked.txt has their own hashes, also of what was built of an
// sdist.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "builder/script/script.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Pure: whether a requirements file makes pip check hashes by what stands in itself.
[[nodiscard]] bool names_hashes(std::string_view requirements);
// Pure: the files that it includes (-r, -c), as written.
[[nodiscard]] std::vector<std::string> included_files(std::string_view requirements);

// Those of a recipe's requirements files that name hashes, or include one that does; `project`: the folder
// that they are relative to. Errors: "source.requirements" (a file is not there), and those of reading it.
[[nodiscard]] base::Result<std::vector<std::string>> find_hashed_files(const Recipe& recipe,
                                                                       const std::filesystem::path& project);

// In the job, in the project's folder: installs input.hashed_files. Empty where there is none.
[[nodiscard]] std::string render_hashed_install(const ScriptInput& input);
// On the login node: fills $folder/checked, and says what is in it in $folder/checked.txt.
[[nodiscard]] std::string render_hashed_wheels(const ScriptInput& input);
// Installs what is in it, by its hashes.
[[nodiscard]] std::string render_checked_install();

}  // namespace wheelyard::builder
