// What a crash leaves of base::replace_file: ".NAME.tmp.*" beside NAME. Only while nobody else writes there. Errors: those of
// the file system; a missing folder is one.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::base {

// Removes the temporary files of replace_file(`path`); with an age, also while others write there: only those that nobody
// has written for so long.
[[nodiscard]] Status remove_temporary_files(const std::filesystem::path& path, std::chrono::seconds age = {});
// Removes those of all files directly in `folder`, but for names that begin with `kept`: the caller's own.
[[nodiscard]] Status remove_temporary_files_in(const std::filesystem::path& folder,
                                               std::string_view kept = {});
// Removes those of all files in `folder` and in the folders below it.
[[nodiscard]] Status remove_temporary_files_below(const std::filesystem::path& folder);

}  // namespace wheelyard::base
