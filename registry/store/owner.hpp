// Whose files a command of root makes in a store.
#pragma once

#include <filesystem>

#include "registry/config/config.hpp"

namespace wheelyard::registry {

// If root runs this process and the store's folder belongs to another user, what the process creates from here on
// belongs to that user: the server could not open it otherwise. Root's powers stay, so a command still reads wheels
// that only root may read. Holds for this thread and for those that it starts; does nothing where the kernel
// refuses it, as in some containers.
void create_as_owner_of(const std::filesystem::path& store);

// The configuration in force (registry/store/index_list.hpp) of a command that writes to the store, after
// create_as_owner_of().
[[nodiscard]] base::Result<RegistryConfig> read_config_as_owner(const std::filesystem::path& file);

}  // namespace wheelyard::registry
