// Whose files a command of root makes in a store.
#pragma once

#include <filesystem>
#include <string>

#include "registry/config/config.hpp"

namespace wheelyard::registry {

// If root runs this process and the store's folder belongs to another user, what the process creates from here on
// belongs to that user: the server could not open it otherwise. A folder that is not there yet belongs to whom the nearest one
// above it does. Root's powers stay, so a command still reads wheels
// that only root may read. Holds for this thread and for those that it starts; does nothing where the kernel
// refuses it, as in some containers.
void create_as_owner_of(const std::filesystem::path& store);

// create_as_owner_of() the store of the configuration in its usual place, for a command that is given none, such as one that
// makes a key.
void create_as_owner_of_usual_store();

// As that user from here on, for good and without root's powers: what root alone may read is refused, as to the server. For a
// command that only asks. Error "store.user": the kernel refuses it.
[[nodiscard]] base::Status become_owner_of(const std::filesystem::path& store);

// Where root runs this process and the store is root's or would be: a line that says what a server of another user needs.
// Otherwise empty.
[[nodiscard]] std::string note_of_root(const std::filesystem::path& store);

// The configuration in force (registry/store/index_list.hpp) of a command that writes to the store, after
// create_as_owner_of().
[[nodiscard]] base::Result<RegistryConfig> read_config_as_owner(const std::filesystem::path& file);

}  // namespace wheelyard::registry
