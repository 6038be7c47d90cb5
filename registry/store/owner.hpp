// Whose the files of a store are, where a command of root makes them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/process/user.hpp"

namespace wheelyard::registry {

// Of the store of the configuration in its usual place, for a command that is given none and makes a key.
[[nodiscard]] std::optional<base::Owner> other_owner_of_usual_store();

// Where root runs this process and the store is root's or would be: a line that says what a server of another user needs.
// Otherwise empty.
[[nodiscard]] std::string note_of_root(const std::filesystem::path& store);

}  // namespace wheelyard::registry
