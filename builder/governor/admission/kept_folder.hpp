// The folder of what the governor keeps between builds: its history, its shims and its library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::governor {

// The first of these that can be written, or created: wheelyard/governor in XDG_CACHE_HOME, .cache/wheelyard/governor in
// HOME. A node may have no HOME, or not mount it: then a private folder in /tmp. Ignores relative paths.
[[nodiscard]] std::filesystem::path kept_folder();

// "/tmp/wheelyard-1000": one for each user.
[[nodiscard]] std::filesystem::path private_folder();

// Creates the folder with mode 0700. Error "governor.folder": another user, or a link, has this name, or others can
// write there; the shims in it could then be another user's programs.
[[nodiscard]] base::Status make_private_folder(const std::filesystem::path& folder);

// Prepares the place of `kept`, a path in kept_folder(): make_private_folder, if it lies in private_folder().
[[nodiscard]] base::Status prepare_kept(const std::filesystem::path& kept);

// Says that a file or folder below it is in use, for remove_unused().
void mark_used(const std::filesystem::path& kept);
// Removes those of `folder` whose name begins with `prefix` and that no build has used for unused_days.
void remove_unused(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace wheelyard::governor
